// A member of a group. Records come from a stream; heartbeats go on by a timer, whether the stream is read or not. There
// is no seek: a new stream, which starts at offsets of the caller's, takes the place of the old one.
import { Consumer, MessagesStreamModes, NetworkError, stringDeserializers } from '@platformatic/kafka'
import { base, emit, words } from './lines.js'

class Member {
  constructor(args) {
    this.args = args
    this.topic = args.topic
    this.consumer = new Consumer({
      ...base(args),
      groupId: args.group,
      deserializers: stringDeserializers,
      ...(args.session_ms && { sessionTimeout: Number(args.session_ms) }),
      ...(args.heartbeat_ms && { heartbeatInterval: Number(args.heartbeat_ms) }),
      ...(args.instance && { groupInstanceId: args.instance }),
      ...(args.group_protocol && { groupProtocol: args.group_protocol }),
      ...(args.strategy === 'cooperative' && { protocols: [{ name: 'cooperative-sticky', version: 1 }] }),
    })
    this.owned = []
    this.read = new Map() // partition -> {offset, leaderEpoch}: what to commit after the last record printed
    this.held = false
  }

  async start() {
    this.consumer.on('consumer:group:join', () => this.assign())
    this.consumer.on('consumer:group:rebalance', () => this.assign(true))
    this.consumer.on('consumer:group:autocommit:error', ({ error }) => emit({ event: 'error', error: words(error) }))
    this.consumer.on('error', err => this.fail(err))
    this.stream = await this.open({ mode: MessagesStreamModes.COMMITTED })
  }

  async open(from) {
    const { reset, commit, auto_ms: interval } = this.args
    const stream = await this.consumer.consume({
      topics: [this.topic],
      ...from,
      ...(reset && { fallbackMode: reset === 'none' ? 'fail' : reset }),
      ...(commit && { autocommit: commit === 'auto' && (interval ? Number(interval) : true) }),
    })
    stream.on('data', message => stream === this.stream && this.record(message))
    stream.on('error', err => stream === this.stream && this.fail(err))
    stream.on('autocommit', err => err && emit({ event: 'error', error: words(err) }))
    return stream
  }

  /** The stream is gone, and with it the program that reads it. A rejoin that close() cuts off is no failure. */
  fail(err) {
    if (this.closing && err instanceof NetworkError) {
      return
    }
    emit({ event: 'error', error: words(err) })
    process.exit(1)
  }

  /** A rebalance is told when it begins, where nothing has changed yet, and once a cooperative one has revoked. */
  assign(onlyChanges = false) {
    const mine = (this.consumer.assignments ?? []).filter(a => a.topic === this.topic).flatMap(a => a.partitions)
    const owned = mine.sort((a, b) => a - b)
    if (onlyChanges && owned.join() === this.owned.join()) {
      return
    }
    this.owned = owned
    for (const partition of this.read.keys()) {
      if (!owned.includes(partition)) {
        this.read.delete(partition)
      }
    }
    emit({ event: 'assigned', partitions: owned })
  }

  record({ partition, offset, key, value, timestamp, leaderEpoch }) {
    emit({ event: 'record', partition, offset: Number(offset), key, value, timestamp: Number(timestamp) })
    this.read.set(partition, { offset: offset + 1n, leaderEpoch })
  }

  async commit() {
    const offsets = [...this.read].map(([partition, at]) => ({ topic: this.topic, partition, ...at }))
    if (offsets.length > 0) {
      await this.consumer.commit({ offsets })
    }
    return { event: 'committed', offsets: Object.fromEntries(offsets.map(o => [o.partition, Number(o.offset)])) }
  }

  async committed() {
    const topics = await this.consumer.listCommittedOffsets({ topics: [{ topic: this.topic, partitions: this.owned }] })
    const offsets = topics.get(this.topic) ?? []
    return { event: 'offsets', offsets: Object.fromEntries(this.owned.map(p => [p, Number(offsets[p])])) }
  }

  /** The new stream goes on, in the partitions not sought, where the old one has been read to, or else fetched to. */
  async seekAll(sought) {
    const old = this.stream
    old.pause()
    const offsets = this.owned.map(partition => ({
      topic: this.topic,
      partition,
      offset: BigInt(sought[partition] ?? this.read.get(partition)?.offset ?? old.offsetsToFetch.get(`${this.topic}:${partition}`)),
    }))
    this.stream = null
    this.stream = await this.open({ mode: MessagesStreamModes.MANUAL, offsets })
    if (this.held) {
      this.stream.pause()
    }
    await old.close()
    return { event: 'sought', offsets: sought }
  }

  async seekTime(ms) {
    const at = async timestamp => (await this.consumer.listOffsets({ topics: [this.topic], timestamp })).get(this.topic)
    const [found, ends] = [await at(BigInt(ms)), await at(-1n)]
    return this.seekAll(Object.fromEntries(this.owned.map(p => [p, Number(found[p] < 0n ? ends[p] : found[p])])))
  }

  hold() {
    this.held = true
    this.stream.pause()
    return { event: 'holding' }
  }

  go() {
    this.held = false
    this.stream.resume()
    return { event: 'going' }
  }

  /** The stream first: consumer.close(true) would close it too, but leave out the last automatic commit. */
  async close() {
    this.closing = true
    await this.stream.close()
    await this.consumer.close().catch(err => {
      if (!(err instanceof NetworkError)) {
        throw err
      }
    })
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
        return this.seekAll({ [rest[0]]: Number(rest[1]) })
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

export async function consume(args, lines) {
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
