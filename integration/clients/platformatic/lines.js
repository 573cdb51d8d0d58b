// The lines that the worker prints and reads, and the options that every client of this package wants.
import { createInterface } from 'node:readline'

/** Prints one JSON line; writes to pipes are synchronous. */
export function emit(line) {
  process.stdout.write(`${JSON.stringify(line)}\n`)
}

/** The client's own words for an error; the reasons are in errors within errors, of which the names of codes are kept. */
export function words(err) {
  const inner = new Set()
  const collect = e => [...(e.errors ?? []), ...(e.cause ? [e.cause] : [])].forEach(sub => {
    inner.add([sub.apiId, sub.message].filter(Boolean).join(': '))
    collect(sub)
  })
  collect(err)
  return [`${err.constructor.name}: ${[err.apiId, err.message].filter(Boolean).join(': ')}`, ...inner].join(' / ')
}

/** The commands on standard input, split into words; its end is a `close`. */
export async function* commands() {
  for await (const line of createInterface({ input: process.stdin })) {
    if (line.trim() !== '') {
      yield line.trim().split(/\s+/)
    }
  }
  yield ['close']
}

/** What every client needs; there is no default for the client's id. */
export function base({ bootstrap, client }) {
  return { clientId: client || 'platformatic', bootstrapBrokers: bootstrap.split(',') }
}
