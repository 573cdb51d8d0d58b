'use strict'
// A member of a group. kafkajs hands over records in a callback and polls by itself in between; what else a program may
// do (commit, seek, pause) it does from outside. To hold is to stay in the callback, for only that stops the heartbeats.
const { plug } = require('./produce')
const { client, emit, words } = require('./lines')

class Member {
  constructor(args) {
    this.args = args
    this.topic = args.topic
    const kafka = client(args)
    this.admin = kafka.admin()
    this.consumer = kafka.consumer({
      groupId: args.group,
      ...(args.session_ms && { sessionTimeout: Number(args.session_ms) }),
      ...(args.heartbeat_ms && { heartbeatInterval: Number(args.heartbeat_ms) }),
    })
    this.owned = []
    this.next = new Map() // partition -> the offset after the last record printed
    this.again = null // the record that is fetched a second time, only to stay in the callback
    this.held = null // the hold that is asked for: {entered, left, enter(), leave()}
    this.commits = 0
  }

  async start() {
    const { GROUP_JOIN, REBALANCING, CRASH, COMMIT_OFFSETS } = this.consumer.events
    this.consumer.on(GROUP_JOIN, ({ payload }) => this.assign(payload.memberAssignment[this.topic] || []))
    this.consumer.on(REBALANCING, () => this.assign([]))
    this.consumer.on(COMMIT_OFFSETS, () => this.commits++)
    this.consumer.on(CRASH, ({ payload }) => this.crash(payload))
    await this.admin.connect()
    await this.consumer.connect()
    await this.consumer.subscribe({ topic: this.topic, ...(this.args.reset && { fromBeginning: this.args.reset === 'earliest' }) })
    await this.consumer.run({
      ...(this.args.commit && { autoCommit: this.args.commit === 'auto' }),
      ...(this.args.auto_ms && { autoCommitInterval: Number(this.args.auto_ms) }),
      eachMessage: ({ partition, message }) => this.record(partition, message),
    })
  }

  assign(partitions) {
    this.owned = [...partitions].sort((a, b) => a - b)
    this.next.clear()
    this.again = null
    emit({ event: 'assigned', partitions: this.owned })
  }

  /** kafkajs gives up and, if it thinks that a new start may help, makes one with a new member. */
  crash({ error, restart }) {
    emit({ event: 'error', error: words(error) })
    if (!restart) {
      process.exit(1)
    }
    this.assign([])
  }

  async record(partition, message) {
    const offset = Number(message.offset)
    const printed = this.again && this.again.partition === partition && this.again.offset === offset
    this.again = null
    if (this.held) {
      this.held.enter()
      await this.held.left
    }
    if (!printed) {
      const [key, value] = [message.key, message.value].map(bytes => bytes && bytes.toString())
      emit({ event: 'record', partition, offset, key, value, timestamp: Number(message.timestamp) })
      this.next.set(partition, offset + 1)
    }
  }

  async commit() {
    const offsets = [...this.next].map(([partition, offset]) => ({ topic: this.topic, partition, offset: String(offset) }))
    const before = this.commits
    await this.consumer.commitOffsets(offsets)
    if (offsets.length > 0 && this.commits === before) {
      throw new Error('kafkajs left out the commit, for the consumer is not running')
    }
    return { event: 'committed', offsets: Object.fromEntries(this.next) }
  }

  async committed() {
    const [{ partitions }] = await this.admin.fetchOffsets({ groupId: this.args.group, topics: [this.topic] })
    return { event: 'offsets', offsets: this.ofOwned(partitions) }
  }

  ofOwned(list) {
    return Object.fromEntries(list.filter(e => this.owned.includes(e.partition)).map(e => [e.partition, Number(e.offset)]))
  }

  seek(partition, offset) {
    this.again = null
    this.consumer.seek({ topic: this.topic, partition: Number(partition), offset: String(offset) })
    return { event: 'sought', offsets: { [partition]: Number(offset) } }
  }

  async seekTime(ms) {
    const offsets = this.ofOwned(await this.admin.fetchTopicOffsetsByTimestamp(this.topic, Number(ms)))
    Object.entries(offsets).forEach(([partition, offset]) => this.seek(partition, offset))
    return { event: 'sought', offsets }
  }

  /**
   * Stays in the callback. Where no record is at hand, the last one is fetched again; with automatic commits, which a
   * seek would change, and where nothing was read, fetching is paused instead, and heartbeats go on.
   */
  async hold() {
    const held = {}
    held.entered = new Promise(resolve => { held.enter = resolve })
    held.left = new Promise(resolve => { held.leave = resolve })
    this.held = held
    const [last] = this.next
    if (this.args.commit === 'manual' && last) {
      const [partition, next] = last
      this.seek(partition, next - 1)
      this.again = { partition, offset: next - 1 }
      await held.entered
    } else {
      this.consumer.pause([{ topic: this.topic }])
    }
    return { event: 'holding' }
  }

  release() {
    if (this.held) {
      this.held.leave()
      this.held = null
      this.consumer.resume([{ topic: this.topic }])
    }
  }

  go() {
    this.release()
    return { event: 'going' }
  }

  async close() {
    this.release()
    await this.consumer.disconnect()
    await this.admin.disconnect()
    return { event: 'closed' }
  }

  /** What a command's answer is, as a promise. */
  async answer([name, ...rest]) {
    switch (name) {
      case 'commit':
        return this.commit().catch(err => ({ event: 'commit_failed', error: words(err) }))
      case 'committed':
        return this.committed()
      case 'seek':
        return this.seek(...rest)
      case 'seek_time':
        return this.seekTime(...rest)
      case 'hold':
        return this.hold()
      case 'go':
        return this.go()
      case 'close':
        return this.close()
      default:
        throw new Error(`unknown command ${name}`)
    }
  }
}

async function consume(args, lines) {
  await plug()
  const member = new Member(args)
  await member.start()
  for await (const line of lines) {
    try {
      emit(await member.answer(line))
    } catch (err) {
      emit({ event: 'error', error: words(err) })
    }
    if (line[0] === 'close') {
      return
    }
  }
}

module.exports = { consume }
