"""A worker for confluent-kafka: see ../README.md for what it prints and reads."""

import sys

import confluent_kafka
from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition

import admin
import consume
from lines import arguments, say

SECONDS = 60


def version(words):
    arguments(words, [])
    say("version", version=confluent_kafka.version())


def produce(words):
    given = arguments(words, ["bootstrap", "topic", "codecs", "count", "partitions"], ["transactional"])
    count, partitions = int(given["count"]), int(given["partitions"])
    for codec in given["codecs"].split(","):
        config = {"bootstrap.servers": given["bootstrap"], "compression.type": codec}
        if "transactional" in given:
            config["transactional.id"] = given["transactional"]
        producer = Producer(config)
        if "transactional" in given:
            producer.init_transactions()
            producer.begin_transaction()
        failures = send(producer, f"{given['topic']}-{codec}", codec, count, partitions)
        if "transactional" in given:
            producer.commit_transaction()
        if failures:
            raise KafkaException(failures[0])
        say("produced", codec=codec, count=count)


def send(producer, topic, codec, count, partitions):
    """Produces the records, waits until all are acknowledged, and returns the errors of those that are not."""
    acknowledged, failures = [], []

    def delivered(error, message):
        if error is None:
            acknowledged.append(message.offset())
        else:
            failures.append(error)

    for i in range(count):
        record = {"key": f"k{i}", "value": f"{codec}-{i}" + "x" * 100, "headers": {"n": str(i)}}
        while True:
            try:
                producer.produce(topic, partition=i % partitions, on_delivery=delivered, **record)
                break
            except BufferError:
                producer.poll(1)
    left = producer.flush(SECONDS)
    if not failures and (left or len(acknowledged) != count):
        raise RuntimeError(f"{len(acknowledged)} of {count} records were acknowledged after {SECONDS} s")
    return failures


def lag(words):
    given = arguments(words, ["bootstrap", "group", "topic", "partitions"])
    consumer = Consumer({"bootstrap.servers": given["bootstrap"], "group.id": given["group"]})
    asked = [TopicPartition(given["topic"], p) for p in range(int(given["partitions"]))]
    behind = {}
    for committed in consumer.committed(asked, timeout=SECONDS):
        if committed.error:
            raise KafkaException(committed.error)
        if committed.offset >= 0:
            _, end = consumer.get_watermark_offsets(committed, timeout=SECONDS)
            behind[str(committed.partition)] = end - committed.offset
    consumer.close()
    say("lag", lag=behind)


VERBS = {"version": version, "produce": produce, "consume": consume.run, "lag": lag, "admin": admin.run}


def main():
    try:
        VERBS[sys.argv[1]](sys.argv[2:])
    except Exception as error:  # the process ends with whatever it is
        say("error", error=consume.text(error))
        sys.exit(1)


if __name__ == "__main__":
    main()
