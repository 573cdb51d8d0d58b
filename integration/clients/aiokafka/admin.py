"""The verb admin: the commands that AIOKafkaAdminClient has. It lists and alters no offsets, and deletes no groups."""

from aiokafka import TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, NewPartitions, NewTopic, RecordsToDelete
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType
from aiokafka.errors import for_code

from lines import Commands, arguments, say, text


def check(code, words=None):
    """Raises the error of a code, for the client hands most answers on as they are."""
    if code:
        raise for_code(code)(words)


class Admin:
    """The commands, by their names; each returns its result."""

    def __init__(self, client):
        self._client = client

    async def create_topic(self, topic, partitions):
        answer = await self._client.create_topics([NewTopic(topic, int(partitions), 1)])
        for _, code, *words in answer.topic_errors:
            check(code, *words)
        return {}

    async def create_partitions(self, topic, total):
        await self._client.create_partitions({topic: NewPartitions(int(total))})
        return {}

    async def list_topics(self):
        return {"topics": sorted(await self._client.list_topics())}

    async def describe_topic(self, topic):
        (described,) = await self._client.describe_topics([topic])
        check(described["error_code"])
        return {"partitions": len(described["partitions"])}

    async def describe_config(self, topic, name):
        (answer,) = await self._client.describe_configs([ConfigResource(ConfigResourceType.TOPIC, topic)])
        ((code, words, _, _, entries),) = answer.resources
        check(code, words)
        return {"value": {entry[0]: entry[1] for entry in entries}[name]}

    async def alter_config(self, topic, name, value):
        (answer,) = await self._client.alter_configs([ConfigResource(ConfigResourceType.TOPIC, topic, {name: value})])
        for code, words, *_ in answer.resources:
            check(code, words)
        return {}

    async def delete_records(self, topic, partition, offset):
        await self._client.delete_records({TopicPartition(topic, int(partition)): RecordsToDelete(int(offset))})
        return {}

    async def describe_cluster(self):
        cluster = await self._client.describe_cluster()
        return {"cluster": cluster["cluster_id"], "brokers": len(cluster["brokers"]), "controller": cluster["controller_id"]}

    async def list_groups(self):
        return {"groups": sorted(name for name, *_ in await self._client.list_consumer_groups())}

    async def describe_group(self, group):
        (answer,) = await self._client.describe_consumer_groups([group])
        ((code, _, state, _, _, members, *_),) = answer.groups
        check(code)
        return {"state": state, "members": len(members)}

    async def group_offsets(self, group, topic):
        offsets = await self._client.list_consumer_group_offsets(group)
        return {"offsets": {str(p.partition): o.offset for p, o in offsets.items() if p.topic == topic}}

    async def delete_topic(self, topic):
        answer = await self._client.delete_topics([topic])
        for _, code in answer.topic_error_codes:
            check(code)
        return {}


async def run(words):
    client = AIOKafkaAdminClient(bootstrap_servers=arguments(words, ["bootstrap"])["bootstrap"])
    await client.start()
    admin, commands = Admin(client), Commands()
    try:
        while (command := await commands.wait()) != ["close"]:
            name, *operands = command
            try:
                if name.startswith("_"):
                    raise AttributeError(name)
                say("ok", result=await getattr(admin, name)(*operands))
            except Exception as error:  # every failure is an answer
                say("failed", error=text(error))
    finally:
        await client.close()
