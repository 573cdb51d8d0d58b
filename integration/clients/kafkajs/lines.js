'use strict'
// The lines that the worker prints and reads, and the client that it makes.
const readline = require('node:readline')
const { Kafka, logLevel } = require('kafkajs')

/** Prints one JSON line; writes to pipes are synchronous. */
function emit(line) {
  process.stdout.write(`${JSON.stringify(line)}\n`)
}

/** The client's own words for an error: its class, its Kafka code if it has one, its text. */
function words(err) {
  const cause = err.cause && err.cause.type ? ` (${err.cause.type})` : ''
  return `${err.name || 'Error'}: ${err.type ? `${err.type}: ` : ''}${err.message}${cause}`
}

/** The commands on standard input, split into words; its end is a `close`. */
async function* commands() {
  for await (const line of readline.createInterface({ input: process.stdin })) {
    if (line.trim() !== '') {
      yield line.trim().split(/\s+/)
    }
  }
  yield ['close']
}

/** A kafkajs client, whose log goes to standard error, for the standard output is the worker's. */
function client({ bootstrap, client: clientId }) {
  return new Kafka({
    brokers: bootstrap.split(','),
    ...(clientId && { clientId }),
    logLevel: logLevel.INFO,
    logCreator: () => ({ namespace, log, label }) => {
      process.stderr.write(`${log.timestamp} ${label} ${namespace || 'kafkajs'} ${JSON.stringify({ ...log, timestamp: undefined, logger: undefined })}\n`)
    },
  })
}

module.exports = { emit, words, commands, client }
