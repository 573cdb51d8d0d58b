'use strict'
// The worker's verbs; see ../README.md. What is printed and read is in lines.js, each verb in its own file.
const { emit, words, commands } = require('./lines')
const { admin, lag } = require('./admin')
const { consume } = require('./consume')
const { produce } = require('./produce')

const verbs = {
  version: () => emit({ event: 'version', version: require('kafkajs/package.json').version }),
  produce,
  consume: args => consume(args, commands()),
  lag,
  admin: args => admin(args, commands()),
}

async function main([verb, ...rest]) {
  if (!Object.hasOwn(verbs, verb)) {
    throw new Error(`unknown verb ${verb}`)
  }
  const args = Object.fromEntries(rest.map(arg => {
    const at = arg.indexOf('=')
    return [arg.slice(0, at), arg.slice(at + 1)]
  }))
  await verbs[verb](args)
}

main(process.argv.slice(2)).then(
  () => process.exit(0),
  err => {
    emit({ event: 'error', error: words(err) })
    process.exit(1)
  },
)
