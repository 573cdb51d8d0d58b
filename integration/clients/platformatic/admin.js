// The calls of the package's admin client, and the lag, made of them: its own getLag knows the partitions of its own
// streams only.
import { Admin, ConfigResourceTypes, IncrementalAlterConfigOperationTypes, ListOffsetTimestamps } from '@platformatic/kafka'
import { base, emit, words } from './lines.js'

async function partitionsOf(admin, topic) {
  return (await admin.metadata({ topics: [topic], forceUpdate: true })).topics.get(topic).partitionsCount
}

/** The offsets of a topic's partitions at a timestamp, or at one of the special ones. */
export async function offsetsAt(admin, topic, timestamp) {
  const count = await partitionsOf(admin, topic)
  const [{ partitions }] = await admin.listOffsets({
    topics: [{ name: topic, partitions: Array.from({ length: count }, (_, partitionIndex) => ({ partitionIndex, timestamp })) }],
  })
  return Object.fromEntries(partitions.map(p => [p.partitionIndex, Number(p.offset)]))
}

async function committed(admin, groupId, topic) {
  const count = await partitionsOf(admin, topic)
  const topics = [{ name: topic, partitionIndexes: Array.from({ length: count }, (_, i) => i) }]
  const [group] = await admin.listConsumerGroupOffsets({ groups: [{ groupId, topics }] })
  const partitions = group.topics.flatMap(t => t.partitions).filter(p => p.committedOffset >= 0n)
  return Object.fromEntries(partitions.map(p => [p.partitionIndex, Number(p.committedOffset)]))
}

/** For the calls that answer with nothing. */
function nothing(call) {
  return async (...args) => {
    await call(...args)
    return {}
  }
}

const calls = {
  create_topic: nothing((admin, topic, partitions) => admin.createTopics({ topics: [topic], partitions: Number(partitions) })),
  create_partitions: nothing((admin, name, total) => admin.createPartitions({ topics: [{ name, count: Number(total) }] })),
  list_topics: async admin => ({ topics: (await admin.listTopics()).sort() }),
  describe_topic: async (admin, topic) => ({ partitions: await partitionsOf(admin, topic) }),
  async describe_config(admin, resourceName, name) {
    const [{ configs }] = await admin.describeConfigs({
      resources: [{ resourceType: ConfigResourceTypes.TOPIC, resourceName, configurationKeys: [name] }],
    })
    return { value: configs.find(config => config.name === name).value }
  },
  alter_config: nothing((admin, resourceName, name, value) => admin.incrementalAlterConfigs({
    resources: [{
      resourceType: ConfigResourceTypes.TOPIC,
      resourceName,
      configs: [{ name, configOperation: IncrementalAlterConfigOperationTypes.SET, value }],
    }],
  })),
  list_offsets: async (admin, topic) => ({
    earliest: await offsetsAt(admin, topic, ListOffsetTimestamps.EARLIEST),
    latest: await offsetsAt(admin, topic, ListOffsetTimestamps.LATEST),
  }),
  offsets_by_time: async (admin, topic, ms) => ({ offsets: await offsetsAt(admin, topic, BigInt(ms)) }),
  delete_records: nothing((admin, name, partition, offset) => admin.deleteRecords({
    topics: [{ name, partitions: [{ partition: Number(partition), offset: BigInt(offset) }] }],
  })),
  async describe_cluster(admin) {
    const { id, brokers, controllerId } = await admin.metadata({ topics: [] })
    return { cluster: id, brokers: brokers.size, controller: controllerId }
  },
  list_groups: async admin => ({ groups: [...(await admin.listGroups()).keys()].sort() }),
  async describe_group(admin, group) {
    const { state, members } = (await admin.describeGroups({ groups: [group] })).get(group)
    return { state, members: members.size }
  },
  group_offsets: async (admin, group, topic) => ({ offsets: await committed(admin, group, topic) }),
  alter_group_offsets: nothing((admin, groupId, name, partition, offset) => admin.alterConsumerGroupOffsets({
    groupId,
    topics: [{ name, partitionOffsets: [{ partition: Number(partition), offset: BigInt(offset) }] }],
  })),
  delete_group_offsets: nothing((admin, groupId, name, partition) => admin.deleteConsumerGroupOffsets({
    groupId,
    topics: [{ name, partitionIndexes: [Number(partition)] }],
  })),
  delete_group: nothing((admin, group) => admin.deleteGroups({ groups: [group] })),
  delete_topic: nothing((admin, topic) => admin.deleteTopics({ topics: [topic] })),
}

export async function admin(args, lines) {
  const admin = new Admin(base(args))
  for await (const [name, ...rest] of lines) {
    if (name === 'close') {
      break
    }
    try {
      if (!Object.hasOwn(calls, name)) {
        throw new Error(`no call for ${name}`)
      }
      emit({ event: 'ok', result: await calls[name](admin, ...rest) })
    } catch (err) {
      emit({ event: 'failed', error: words(err) })
    }
  }
  await admin.close()
}

export async function lag(args) {
  const admin = new Admin(base(args))
  const ends = await offsetsAt(admin, args.topic, ListOffsetTimestamps.LATEST)
  const offsets = Object.entries(await committed(admin, args.group, args.topic))
  emit({ event: 'lag', lag: Object.fromEntries(offsets.map(([partition, offset]) => [partition, ends[partition] - offset])) })
  await admin.close()
}
