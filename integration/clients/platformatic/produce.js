// Produces with each codec, through a producer or through a transaction of one.
import { Producer, stringSerializers } from '@platformatic/kafka'
import { base, emit } from './lines.js'

/** Records of one call of send. */
const chunk = 1000

function message(topic, codec, i, partitions) {
  return {
    topic: `${topic}-${codec}`,
    partition: i % partitions,
    key: `k${i}`,
    value: `${codec}-${i}${'x'.repeat(100)}`,
    headers: { n: String(i) },
  }
}

async function sendAll(to, codec, topic, count, partitions) {
  for (let from = 0; from < count; from += chunk) {
    const length = Math.min(chunk, count - from)
    await to.send({
      compression: codec,
      messages: Array.from({ length }, (_, i) => message(topic, codec, from + i, partitions)),
    })
  }
}

export async function produce(args) {
  const [count, partitions] = [Number(args.count), Number(args.partitions)]
  const producer = new Producer({
    ...base(args),
    serializers: stringSerializers,
    ...(args.transactional && { transactionalId: args.transactional, idempotent: true }),
  })
  for (const codec of args.codecs.split(',')) {
    if (args.transactional) {
      const transaction = await producer.beginTransaction()
      await sendAll(transaction, codec, args.topic, count, partitions)
      await transaction.commit()
    } else {
      await sendAll(producer, codec, args.topic, count, partitions)
    }
    emit({ event: 'produced', codec, count })
  }
  await producer.close()
}
