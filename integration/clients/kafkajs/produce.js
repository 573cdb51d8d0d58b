'use strict'
// Produces with each codec. kafkajs brings gzip; for the others it asks its users to plug in a package.
const { CompressionCodecs, CompressionTypes } = require('kafkajs')
const snappy = require('kafkajs-snappy')
const lz4 = require('lz4-napi')
const { client, emit } = require('./lines')

const types = {
  none: CompressionTypes.None,
  gzip: CompressionTypes.GZIP,
  snappy: CompressionTypes.Snappy,
  lz4: CompressionTypes.LZ4,
  zstd: CompressionTypes.ZSTD,
}

/** Records of one call of send, which is one request, with one batch a partition. */
const chunk = 1000

/** Plugs the codecs in, as kafkajs's manual shows; consumers need them just as well. */
async function plug() {
  const { Zstd } = await import('@hpcc-js/wasm-zstd')
  const zstd = await Zstd.load()
  CompressionCodecs[types.snappy] = snappy
  CompressionCodecs[types.lz4] = () => ({
    compress: encoder => lz4.compressFrame(encoder.buffer),
    decompress: buffer => lz4.decompressFrame(buffer),
  })
  CompressionCodecs[types.zstd] = () => ({
    compress: async encoder => Buffer.from(zstd.compress(encoder.buffer)),
    decompress: async buffer => Buffer.from(zstd.decompress(buffer)),
  })
}

function record(codec, i, partitions) {
  return {
    partition: i % partitions,
    key: `k${i}`,
    value: `${codec}-${i}${'x'.repeat(100)}`,
    headers: { n: String(i) },
  }
}

/** Sends the records of one codec through a producer, or through a transaction of one. */
async function sendAll(to, codec, topic, count, partitions) {
  for (let from = 0; from < count; from += chunk) {
    const length = Math.min(chunk, count - from)
    const messages = Array.from({ length }, (_, i) => record(codec, from + i, partitions))
    await to.send({ topic: `${topic}-${codec}`, compression: types[codec], messages })
  }
}

async function produce(args) {
  const [count, partitions] = [Number(args.count), Number(args.partitions)]
  await plug()
  const producer = client(args).producer(
    args.transactional ? { transactionalId: args.transactional, idempotent: true, maxInFlightRequests: 1 } : {},
  )
  await producer.connect()
  for (const codec of args.codecs.split(',')) {
    if (args.transactional) {
      const transaction = await producer.transaction()
      await sendAll(transaction, codec, args.topic, count, partitions)
      await transaction.commit()
    } else {
      await sendAll(producer, codec, args.topic, count, partitions)
    }
    emit({ event: 'produced', codec, count })
  }
  await producer.disconnect()
}

module.exports = { produce, plug }
