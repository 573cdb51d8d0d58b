// The worker's verbs; see ../README.md. What is printed and read is in lines.js, each verb in its own file.
import './shim.js'
import { createRequire } from 'node:module'
import { admin, lag } from './admin.js'
import { consume } from './consume.js'
import { commands, emit, words } from './lines.js'
import { produce } from './produce.js'

/** The package lets nobody import its package.json, so that is found beside what can be resolved. */
async function version() {
  const file = new URL('../package.json', `file://${createRequire(import.meta.url).resolve('@platformatic/kafka')}`)
  emit({ event: 'version', version: (await import(file, { with: { type: 'json' } })).default.version })
}

const verbs = {
  version,
  produce,
  consume: args => consume(args, commands()),
  lag,
  admin: args => admin(args, commands()),
}

async function main([verb, ...rest]) {
  if (!Object.hasOwn(verbs, verb)) {
    throw new Error(`unknown verb ${verb}`)
  }
  const pairs = rest.map(arg => arg.match(/^([^=]+)=(.*)$/s).slice(1))
  await verbs[verb](Object.fromEntries(pairs))
}

try {
  await main(process.argv.slice(2))
  process.exit(0)
} catch (err) {
  emit({ event: 'error', error: words(err) })
  process.exit(1)
}
