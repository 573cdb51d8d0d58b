'use strict'
// The calls of kafkajs's admin client, and the lag, which it has no call for.
const { ConfigResourceTypes } = require('kafkajs')
const { client, emit, words } = require('./lines')

/** From kafkajs's lists of {partition, offset: string} to an object. */
function byPartition(list, field = 'offset') {
  return Object.fromEntries(list.map(entry => [entry.partition, Number(entry[field])]))
}

async function committed(admin, group, topic) {
  const topics = await admin.fetchOffsets({ groupId: group, topics: [topic] })
  return topics.length === 0 ? [] : topics[0].partitions
}

/** kafkajs answers with the end of the log where no record is young enough; that is told apart here. */
async function offsetsByTime(admin, topic, ms) {
  const found = byPartition(await admin.fetchTopicOffsetsByTimestamp(topic, ms))
  const ends = byPartition(await admin.fetchTopicOffsets(topic), 'high')
  return Object.fromEntries(Object.entries(found).map(([p, offset]) => [p, offset === ends[p] ? -1 : offset]))
}

const calls = {
  async create_topic(admin, topic, partitions) {
    const created = await admin.createTopics({ topics: [{ topic, numPartitions: Number(partitions) }] })
    if (!created) {
      throw new Error('createTopics answered false')
    }
    return {}
  },
  async create_partitions(admin, topic, total) {
    const created = await admin.createPartitions({ topicPartitions: [{ topic, count: Number(total) }] })
    if (created === false) {
      throw new Error('createPartitions answered false')
    }
    return {}
  },
  list_topics: async admin => ({ topics: (await admin.listTopics()).sort() }),
  async describe_topic(admin, topic) {
    const { topics } = await admin.fetchTopicMetadata({ topics: [topic] })
    return { partitions: topics[0].partitions.length }
  },
  async describe_config(admin, topic, name) {
    const { resources } = await admin.describeConfigs({
      includeSynonyms: false,
      resources: [{ type: ConfigResourceTypes.TOPIC, name: topic, configNames: [name] }],
    })
    return { value: resources[0].configEntries.find(entry => entry.configName === name).configValue }
  },
  async alter_config(admin, topic, name, value) {
    await admin.alterConfigs({
      validateOnly: false,
      resources: [{ type: ConfigResourceTypes.TOPIC, name: topic, configEntries: [{ name, value }] }],
    })
    return {}
  },
  async list_offsets(admin, topic) {
    const offsets = await admin.fetchTopicOffsets(topic)
    return { earliest: byPartition(offsets, 'low'), latest: byPartition(offsets, 'high') }
  },
  offsets_by_time: async (admin, topic, ms) => ({ offsets: await offsetsByTime(admin, topic, Number(ms)) }),
  async delete_records(admin, topic, partition, offset) {
    await admin.deleteTopicRecords({ topic, partitions: [{ partition: Number(partition), offset }] })
    return {}
  },
  async describe_cluster(admin) {
    const { clusterId, brokers, controller } = await admin.describeCluster()
    return { cluster: clusterId, brokers: brokers.length, controller }
  },
  list_groups: async admin => ({ groups: (await admin.listGroups()).groups.map(group => group.groupId).sort() }),
  async describe_group(admin, group) {
    const { groups } = await admin.describeGroups([group])
    return { state: groups[0].state, members: groups[0].members.length }
  },
  async group_offsets(admin, group, topic) {
    return { offsets: byPartition((await committed(admin, group, topic)).filter(entry => Number(entry.offset) >= 0)) }
  },
  async alter_group_offsets(admin, groupId, topic, partition, offset) {
    await admin.setOffsets({ groupId, topic, partitions: [{ partition: Number(partition), offset }] })
    return {}
  },
  async delete_group(admin, group) {
    await admin.deleteGroups([group])
    return {}
  },
  async delete_topic(admin, topic) {
    await admin.deleteTopics({ topics: [topic] })
    return {}
  },
}

/** An error that carries others (of deleteGroups, createTopics, deleteTopicRecords) is told with them. */
function allWords(err) {
  const inner = [...(err.errors || []), ...(err.groups || []), ...(err.partitions || [])].map(e => e.error || e)
  return [err, ...inner].map(words).join('; ')
}

async function admin(args, lines) {
  const admin = client(args).admin()
  await admin.connect()
  for await (const [name, ...rest] of lines) {
    if (name === 'close') {
      break
    }
    try {
      if (!Object.hasOwn(calls, name)) {
        throw new Error(`kafkajs has no call for ${name}`)
      }
      emit({ event: 'ok', result: await calls[name](admin, ...rest) })
    } catch (err) {
      emit({ event: 'failed', error: allWords(err) })
    }
  }
  await admin.disconnect()
}

async function lag(args) {
  const admin = client(args).admin()
  await admin.connect()
  const ends = byPartition(await admin.fetchTopicOffsets(args.topic), 'high')
  const offsets = (await committed(admin, args.group, args.topic)).filter(entry => Number(entry.offset) >= 0)
  emit({ event: 'lag', lag: Object.fromEntries(offsets.map(({ partition, offset }) => [partition, ends[partition] - Number(offset)])) })
  await admin.disconnect()
}

module.exports = { admin, lag }
