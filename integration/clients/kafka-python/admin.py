"""The verb admin: the commands that KafkaAdminClient has, which are all."""

from kafka import KafkaAdminClient, OffsetAndMetadata, OffsetSpec, TopicPartition
from kafka.admin import ConfigResource, ConfigResourceType
from kafka.errors import NoError, for_code

from lines import Commands, arguments, say, text


def check(results):
    """Raises the first error of a map of results, which are error classes, or their names, or OK."""
    for result in results.values():
        if isinstance(result, type):
            if result is not NoError:
                raise result()
        elif result != "OK":
            raise RuntimeError(result)
    return {}


class Admin:
    """The commands, by their names; each returns its result."""

    def __init__(self, bootstrap):
        self._client = KafkaAdminClient(bootstrap_servers=bootstrap)

    def create_topic(self, topic, partitions):
        self._client.create_topics({topic: {"num_partitions": int(partitions), "replication_factor": 1}})
        return {}

    def create_partitions(self, topic, total):
        self._client.create_partitions({topic: int(total)})
        return {}

    def list_topics(self):
        return {"topics": sorted(self._client.list_topics())}

    def describe_topic(self, topic):
        (described,) = self._client.describe_topics([topic])
        if described["error_code"]:
            raise for_code(described["error_code"])()
        return {"partitions": len(described["partitions"])}

    def describe_config(self, topic, name):
        asked = [ConfigResource(ConfigResourceType.TOPIC, topic)]
        return {"value": self._client.describe_configs(asked, config_filter="all")["topic"][topic][name]["value"]}

    def alter_config(self, topic, name, value):
        altered = self._client.alter_configs([ConfigResource(ConfigResourceType.TOPIC, topic, {name: value})])
        return check(altered["topic"])

    def _offsets(self, topic, spec):
        partitions = [TopicPartition(topic, p) for p in range(self.describe_topic(topic)["partitions"])]
        found = self._client.list_partition_offsets({p: spec for p in partitions})
        return {str(p.partition): found[p].offset for p in partitions}

    def list_offsets(self, topic):
        return {"earliest": self._offsets(topic, OffsetSpec.EARLIEST), "latest": self._offsets(topic, OffsetSpec.LATEST)}

    def offsets_by_time(self, topic, milliseconds):
        return {"offsets": self._offsets(topic, int(milliseconds))}

    def delete_records(self, topic, partition, offset):
        self._client.delete_records({TopicPartition(topic, int(partition)): int(offset)})
        return {}

    def describe_cluster(self):
        cluster = self._client.describe_cluster()
        return {"cluster": cluster["cluster_id"], "brokers": len(cluster["brokers"]), "controller": cluster["controller_id"]}

    def list_groups(self):
        return {"groups": sorted(group["group_id"] for group in self._client.list_groups())}

    def describe_group(self, group):
        described = self._client.describe_groups([group])[group]
        return {"state": described["group_state"], "members": len(described["members"])}

    def group_offsets(self, group, topic):
        offsets = self._client.list_group_offsets(group)[group]
        return {"offsets": {str(p.partition): o.offset for p, o in offsets.items() if p.topic == topic}}

    def alter_group_offsets(self, group, topic, partition, offset):
        wanted = {TopicPartition(topic, int(partition)): OffsetAndMetadata(int(offset), "", -1)}
        return check(self._client.alter_group_offsets(group, wanted))

    def delete_group_offsets(self, group, topic, partition):
        return check(self._client.delete_group_offsets(group, [TopicPartition(topic, int(partition))]))

    def delete_group(self, group):
        return check(self._client.delete_groups([group]))

    def delete_topic(self, topic):
        self._client.delete_topics([topic])
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
