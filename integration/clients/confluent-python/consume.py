"""The verb consume: a member of a group."""

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

from lines import Commands, arguments, say

SECONDS = 60
STRATEGIES = {"eager": "range", "cooperative": "cooperative-sticky"}
RESETS = {"earliest": "earliest", "latest": "latest", "none": "error"}
OPTIONS = ["reset", "commit", "auto_ms", "session_ms", "heartbeat_ms", "strategy", "instance", "client", "group_protocol"]


def text(error):
    """Returns the client's own words for an error."""
    if isinstance(error, KafkaException):
        error = error.args[0]
    if isinstance(error, KafkaError):
        return f"{error.name()}: {error.str()}"
    return f"{type(error).__name__}: {error}"


def configuration(given):
    """Returns the consumer's configuration; what is not given stays at the client's default."""
    config = {"bootstrap.servers": given["bootstrap"], "group.id": given["group"]}
    plain = {"auto_ms": "auto.commit.interval.ms", "session_ms": "session.timeout.ms", "instance": "group.instance.id",
             "heartbeat_ms": "heartbeat.interval.ms", "client": "client.id", "group_protocol": "group.protocol"}
    for name, key in plain.items():
        if name in given:
            config[key] = given[name]
    if "reset" in given:
        config["auto.offset.reset"] = RESETS[given["reset"]]
    if "strategy" in given:
        config["partition.assignment.strategy"] = STRATEGIES[given["strategy"]]
    if "commit" in given:
        config["enable.auto.commit"] = {"auto": True, "manual": False}[given["commit"]]
    return config


class Member:
    """A consumer with what it owns and where it is."""

    def __init__(self, given):
        self.topic = given["topic"]
        self.cooperative = given.get("strategy") == "cooperative" or given.get("group_protocol") == "consumer"
        self.owned = set()
        self.next = {}  # partition -> the offset after the last record that was printed
        self.fatal = False
        config = configuration(given)
        config["error_cb"] = self.on_error
        config["on_commit"] = self.on_commit
        self.consumer = Consumer(config)
        self.consumer.subscribe([self.topic], on_assign=self.on_assign, on_revoke=self.on_revoke)

    def on_assign(self, _, partitions):
        new = {p.partition for p in partitions}
        self.owned = self.owned | new if self.cooperative else new
        say("assigned", partitions=sorted(self.owned))

    def on_revoke(self, _, partitions):
        for p in partitions:
            self.owned.discard(p.partition)
            self.next.pop(p.partition, None)
        say("assigned", partitions=sorted(self.owned))

    def on_error(self, error):
        say("error", error=text(error))
        self.fatal = self.fatal or error.fatal() or error.code() == KafkaError._FATAL

    def on_commit(self, error, partitions):
        """Reports automatic commits that failed; those by command are answered there."""
        if error is not None and error.code() != KafkaError._NO_OFFSET:
            say("error", error=text(error))

    def poll(self):
        """Polls once and prints what comes."""
        message = self.consumer.poll(0.05)
        if message is None:
            return
        if message.error():
            self.on_error(message.error())
            return
        self.next[message.partition()] = message.offset() + 1
        key, value = message.key(), message.value()
        say("record", partition=message.partition(), offset=message.offset(), key=key and key.decode(),
            value=value and value.decode(), timestamp=message.timestamp()[1])

    def commit(self):
        offsets = [TopicPartition(self.topic, p, o) for p, o in sorted(self.next.items())]
        try:
            done = self.consumer.commit(offsets=offsets, asynchronous=False) if offsets else []
            refused = [p.error for p in done if p.error]
            if refused:
                raise KafkaException(refused[0])
        except KafkaException as error:
            say("commit_failed", error=text(error))
            return
        say("committed", offsets={str(p.partition): p.offset for p in done})

    def committed(self):
        asked = [TopicPartition(self.topic, p) for p in sorted(self.owned)]
        found = self.consumer.committed(asked, timeout=SECONDS)
        failures = [p.error for p in found if p.error]
        if failures:
            raise KafkaException(failures[0])
        say("offsets", offsets={str(p.partition): max(p.offset, -1) for p in found})

    def seek(self, partition, offset):
        self.consumer.seek(TopicPartition(self.topic, int(partition), int(offset)))
        say("sought", offsets={partition: int(offset)})

    def seek_time(self, milliseconds):
        asked = [TopicPartition(self.topic, p, int(milliseconds)) for p in sorted(self.owned)]
        sought = {}
        for p in self.consumer.offsets_for_times(asked, timeout=SECONDS):
            if p.offset < 0:  # nothing so young: the end
                p.offset = self.consumer.get_watermark_offsets(p, timeout=SECONDS)[1]
            self.consumer.seek(p)
            sought[str(p.partition)] = p.offset
        say("sought", offsets=sought)


def run(words):
    given = arguments(words, ["bootstrap", "group", "topic"], OPTIONS)
    member, commands, holding = Member(given), Commands(), False
    answers = {"commit": member.commit, "committed": member.committed, "seek": member.seek, "seek_time": member.seek_time}
    while True:
        if not holding:
            member.poll()
        if member.fatal:
            raise SystemExit(1)
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
        except (KafkaException, KeyError, ValueError) as error:
            say("error", error=text(error))
