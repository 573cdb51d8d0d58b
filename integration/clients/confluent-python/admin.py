"""The verb admin: the commands that AdminClient has. It has none for delete_group_offsets."""

from confluent_kafka import ConsumerGroupTopicPartitions, KafkaException, TopicCollection, TopicPartition
from confluent_kafka.admin import (AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource, NewPartitions, NewTopic,
                                   OffsetSpec, ResourceType)

from consume import text
from lines import Commands, arguments, say

SECONDS = 60


def only(futures):
    """Returns the result of a map with one future."""
    (future,) = futures.values()
    return future.result(SECONDS)


class Admin:
    """The commands, by their names; each returns its result."""

    def __init__(self, bootstrap):
        self._client = AdminClient({"bootstrap.servers": bootstrap})

    def create_topic(self, topic, partitions):
        only(self._client.create_topics([NewTopic(topic, num_partitions=int(partitions), replication_factor=1)]))
        return {}

    def create_partitions(self, topic, total):
        only(self._client.create_partitions([NewPartitions(topic, int(total))]))
        return {}

    def list_topics(self):
        return {"topics": sorted(self._client.list_topics(timeout=SECONDS).topics)}

    def describe_topic(self, topic):
        return {"partitions": len(only(self._client.describe_topics(TopicCollection([topic]))).partitions)}

    def describe_config(self, topic, name):
        return {"value": only(self._client.describe_configs([ConfigResource(ResourceType.TOPIC, topic)]))[name].value}

    def alter_config(self, topic, name, value):
        entry = ConfigEntry(name, value, incremental_operation=AlterConfigOpType.SET)
        only(self._client.incremental_alter_configs(
            [ConfigResource(ResourceType.TOPIC, topic, incremental_configs=[entry])]))
        return {}

    def _offsets(self, topic, spec):
        described = only(self._client.describe_topics(TopicCollection([topic])))
        asked = {TopicPartition(topic, p.id): spec for p in described.partitions}
        return {str(p.partition): f.result(SECONDS).offset for p, f in self._client.list_offsets(asked).items()}

    def list_offsets(self, topic):
        return {"earliest": self._offsets(topic, OffsetSpec.earliest()),
                "latest": self._offsets(topic, OffsetSpec.latest())}

    def offsets_by_time(self, topic, milliseconds):
        return {"offsets": self._offsets(topic, OffsetSpec.for_timestamp(int(milliseconds)))}

    def delete_records(self, topic, partition, offset):
        only(self._client.delete_records([TopicPartition(topic, int(partition), int(offset))]))
        return {}

    def describe_cluster(self):
        cluster = self._client.describe_cluster().result(SECONDS)
        return {"cluster": cluster.cluster_id, "brokers": len(cluster.nodes), "controller": cluster.controller.id}

    def list_groups(self):
        listed = self._client.list_consumer_groups().result(SECONDS)
        if listed.errors:
            raise listed.errors[0]
        return {"groups": sorted(group.group_id for group in listed.valid)}

    def describe_group(self, group):
        described = only(self._client.describe_consumer_groups([group]))
        return {"state": "".join(described.state.name.title().split("_")), "members": len(described.members)}

    def group_offsets(self, group, topic):
        offsets = only(self._client.list_consumer_group_offsets([ConsumerGroupTopicPartitions(group)]))
        return {"offsets": {str(p.partition): p.offset for p in offsets.topic_partitions if p.topic == topic}}

    def alter_group_offsets(self, group, topic, partition, offset):
        wanted = ConsumerGroupTopicPartitions(group, [TopicPartition(topic, int(partition), int(offset))])
        for p in only(self._client.alter_consumer_group_offsets([wanted])).topic_partitions:
            if p.error:
                raise KafkaException(p.error)
        return {}

    def delete_group(self, group):
        only(self._client.delete_consumer_groups([group]))
        return {}

    def delete_topic(self, topic):
        only(self._client.delete_topics([topic]))
        return {}


def run(words):
    admin, commands = Admin(arguments(words, ["bootstrap"])["bootstrap"]), Commands()
    while True:
        name, *operands = commands.wait()
        if name == "close":
            return
        try:
            if name.startswith("_"):
                raise AttributeError(name)
            say("ok", result=getattr(admin, name)(*operands))
        except Exception as error:  # every failure is an answer
            say("failed", error=text(error))
