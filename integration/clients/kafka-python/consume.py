"""The verb consume: a member of a group."""

import threading

from kafka import ConsumerRebalanceListener, KafkaConsumer, OffsetAndMetadata, TopicPartition
from kafka.coordinator.assignors.cooperative_sticky import CooperativeStickyAssignor
from kafka.coordinator.assignors.range import RangePartitionAssignor
from kafka.errors import KafkaError

from lines import Commands, arguments, say, text

STRATEGIES = {"eager": RangePartitionAssignor, "cooperative": CooperativeStickyAssignor}
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
    """A consumer with what it owns and where it is. The client calls the listener on a thread of its own."""

    def __init__(self, given):
        self.topic = given["topic"]
        self.eager = given.get("strategy") != "cooperative"
        self.lock = threading.Lock()
        self.owned = set()
        self.next = {}  # partition -> the offset after the last record that was printed
        self.consumer = KafkaConsumer(default_offset_commit_callback=self.on_commit, **configuration(given))
        self.consumer.subscribe([self.topic], listener=self)
        # Joining before the topic is known means to join twice, and a fault of the client can lose the second time: if
        # poll ends between the answers to its JoinGroup and SyncGroup, the member takes up nothing and sends no heartbeat.
        self.consumer.partitions_for_topic(self.topic)

    def on_partitions_assigned(self, assigned):
        """An eager assignment is the whole, and the client goes on at its position in what it had before; a
        cooperative one is what is new."""
        given = {p.partition for p in assigned}
        with self.lock:
            self.owned = given if self.eager else self.owned | given
            self.next = {p: o for p, o in self.next.items() if (p in given) == self.eager}
            say("assigned", partitions=sorted(self.owned))

    def on_partitions_revoked(self, revoked):
        if not revoked:  # a new member of an eager group is told so
            return
        with self.lock:
            self.owned -= {p.partition for p in revoked}
            say("assigned", partitions=sorted(self.owned))

    def on_partitions_lost(self, lost):
        with self.lock:
            self.next.clear()
        self.on_partitions_revoked(lost)

    @staticmethod
    def on_commit(_, response):
        """Reports automatic commits that failed."""
        if isinstance(response, Exception):
            say("error", error=text(response))

    def owns(self):
        """Returns what it owns, as the client names partitions."""
        with self.lock:
            return [TopicPartition(self.topic, p) for p in sorted(self.owned)]

    def poll(self):
        """Polls once and prints what comes."""
        for records in self.consumer.poll(timeout_ms=200).values():
            for record in records:
                with self.lock:
                    self.next[record.partition] = record.offset + 1
                say("record", partition=record.partition, offset=record.offset, key=record.key and record.key.decode(),
                    value=record.value and record.value.decode(), timestamp=record.timestamp)

    def commit(self):
        with self.lock:
            offsets = {TopicPartition(self.topic, p): OffsetAndMetadata(self.next[p], "", -1)
                       for p in sorted(self.owned) if p in self.next}
        try:
            if offsets:
                self.consumer.commit(offsets)
        except KafkaError as error:
            say("commit_failed", error=text(error))
            return
        say("committed", offsets={str(p.partition): o.offset for p, o in offsets.items()})

    def committed(self):
        found = {p: self.consumer.committed(p) for p in self.owns()}
        say("offsets", offsets={str(p.partition): -1 if o is None else o for p, o in found.items()})

    def seek(self, partition, offset):
        self.consumer.seek(TopicPartition(self.topic, int(partition)), int(offset))
        say("sought", offsets={partition: int(offset)})

    def seek_time(self, milliseconds):
        partitions = self.owns()
        found = self.consumer.offsets_for_times({p: int(milliseconds) for p in partitions}) if partitions else {}
        ends = self.consumer.end_offsets(partitions) if partitions else {}
        sought = {p: found[p].offset if found[p] else ends[p] for p in partitions}
        for p, offset in sought.items():
            self.consumer.seek(p, offset)
        say("sought", offsets={str(p.partition): o for p, o in sought.items()})


def run(words):
    given = arguments(words, ["bootstrap", "group", "topic"], OPTIONS)
    member, commands, holding = Member(given), Commands(), False
    answers = {"commit": member.commit, "committed": member.committed, "seek": member.seek, "seek_time": member.seek_time}
    while True:
        try:
            if not holding:
                member.poll()
        except KafkaError as error:
            say("error", error=text(error))
            if not error.retriable:
                member.consumer.close()
                raise SystemExit(1) from error
        command = commands.wait() if holding else commands.next()
        if command is None:
            continue
        name, *operands = command
        if name == "close":
            member.consumer.close()
            say("closed")
            return
        if name in ("hold", "go"):
            holding = name == "hold"
            say("holding" if holding else "going")
            continue
        try:
            answers[name](*operands)
        except (KafkaError, KeyError, ValueError, AssertionError) as error:
            say("error", error=text(error))
