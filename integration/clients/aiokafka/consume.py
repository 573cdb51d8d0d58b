"""The verb consume: a member of a group."""

from aiokafka import AIOKafkaConsumer, ConsumerRebalanceListener, IllegalOperation, TopicPartition
from aiokafka.coordinator.assignors.range import RangePartitionAssignor
from aiokafka.errors import KafkaError

from lines import Commands, arguments, say, text

STRATEGIES = {"eager": RangePartitionAssignor}
RESETS = ["earliest", "latest", "none"]
OPTIONS = ["reset", "commit", "auto_ms", "session_ms", "heartbeat_ms", "strategy", "instance", "client"]


def configuration(given):
    """Returns the consumer's configuration; what is not given stays at the client's default."""
    config = {"bootstrap_servers": given["bootstrap"], "group_id": given["group"]}
    numbers = {"auto_ms": "auto_commit_interval_ms", "session_ms": "session_timeout_ms",
               "heartbeat_ms": "heartbeat_interval_ms"}
    for name, key in numbers.items():
        if name in given:
            config[key] = int(given[name])
    for name, key in {"instance": "group_instance_id", "client": "client_id"}.items():
        if name in given:
            config[key] = given[name]
    if "reset" in given:
        if given["reset"] not in RESETS:
            raise ValueError(f"reset={given['reset']} is not one of {RESETS}")
        config["auto_offset_reset"] = given["reset"]
    if "strategy" in given:
        config["partition_assignment_strategy"] = (STRATEGIES[given["strategy"]],)
    if "commit" in given:
        config["enable_auto_commit"] = {"auto": True, "manual": False}[given["commit"]]
    return config


class Member(ConsumerRebalanceListener):
    """A consumer with what it owns and where it is. The client rebalances in a task of its own, also between polls."""

    def __init__(self, given):
        self.topic = given["topic"]
        self.owned = set()
        self.next = {}  # partition -> the offset after the last record that was printed
        self.held = None  # what next was when the worker began to hold
        self.consumer = AIOKafkaConsumer(**configuration(given))
        self.consumer.subscribe([self.topic], listener=self)

    def on_partitions_assigned(self, assigned):
        self.owned = {p.partition for p in assigned}
        say("assigned", partitions=sorted(self.owned))

    def on_partitions_revoked(self, revoked):
        self.next = {}
        if self.owned:
            self.owned = set()
            say("assigned", partitions=[])

    def owns(self):
        """Returns what it owns, as the client names partitions."""
        return [TopicPartition(self.topic, p) for p in sorted(self.owned)]

    async def poll(self):
        """Polls once and prints what comes."""
        for records in (await self.consumer.getmany(timeout_ms=50)).values():
            for record in records:
                self.next[record.partition] = record.offset + 1
                say("record", partition=record.partition, offset=record.offset, key=record.key and record.key.decode(),
                    value=record.value and record.value.decode(), timestamp=record.timestamp)

    def hold(self):
        """What is committed while it holds are the records printed before, as in a program that works on them."""
        self.held = dict(self.next)
        say("holding")

    def go(self):
        self.held = None
        say("going")

    async def commit(self):
        done = self.next if self.held is None else self.held
        offsets = {TopicPartition(self.topic, p): o for p, o in sorted(done.items())}
        try:
            if offsets:
                await self.consumer.commit(offsets)
        except KafkaError as error:
            say("commit_failed", error=text(error))
            return
        say("committed", offsets={str(p.partition): o for p, o in offsets.items()})

    async def committed(self):
        found = {p: await self.consumer.committed(p) for p in self.owns()}
        say("offsets", offsets={str(p.partition): -1 if o is None else o for p, o in found.items()})

    async def seek(self, partition, offset):
        self.consumer.seek(TopicPartition(self.topic, int(partition)), int(offset))
        say("sought", offsets={partition: int(offset)})

    async def seek_time(self, milliseconds):
        partitions = self.owns()
        found = await self.consumer.offsets_for_times({p: int(milliseconds) for p in partitions}) if partitions else {}
        ends = await self.consumer.end_offsets(partitions) if partitions else {}
        sought = {p: found[p].offset if found.get(p) else ends[p] for p in partitions}
        for p, offset in sought.items():
            self.consumer.seek(p, offset)
        say("sought", offsets={str(p.partition): o for p, o in sought.items()})

    async def obey(self, name, *operands):
        """Does one command and prints its answer."""
        answers = {"commit": self.commit, "committed": self.committed, "seek": self.seek, "seek_time": self.seek_time}
        try:
            await answers[name](*operands)
        except (KafkaError, IllegalOperation, KeyError, ValueError) as error:
            say("error", error=text(error))


async def run(words):
    member, commands = Member(arguments(words, ["bootstrap", "group", "topic"], OPTIONS)), Commands()
    await member.consumer.start()
    try:
        while True:
            try:
                if member.held is None:
                    await member.poll()
            except KafkaError as error:
                say("error", error=text(error))
                if not error.retriable:
                    raise SystemExit(1) from error
            command = commands.next() if member.held is None else await commands.wait()
            if command == ["close"]:
                break
            if command == ["hold"]:
                member.hold()
            elif command == ["go"]:
                member.go()
            elif command is not None:
                await member.obey(*command)
    finally:
        await member.consumer.stop()
    say("closed")
