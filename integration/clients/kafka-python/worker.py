"""A worker for kafka-python: see ../README.md for what it prints and reads."""

import logging
import sys

import kafka
from kafka import KafkaConsumer, KafkaProducer, TopicPartition

import admin
import consume
from lines import arguments, say, text

SECONDS = 60


def version(words):
    arguments(words, [])
    say("version", version=kafka.__version__)


def produce(words):
    given = arguments(words, ["bootstrap", "topic", "codecs", "count", "partitions"], ["transactional"])
    count, partitions = int(given["count"]), int(given["partitions"])
    for codec in given["codecs"].split(","):
        config = {} if codec == "none" else {"compression_type": codec}
        if "transactional" in given:
            config["transactional_id"] = given["transactional"]
        producer = KafkaProducer(bootstrap_servers=given["bootstrap"], **config)
        if "transactional" in given:
            producer.init_transactions()
            producer.begin_transaction()
        futures = [
            producer.send(f"{given['topic']}-{codec}", partition=i % partitions, key=f"k{i}".encode(),
                          value=(f"{codec}-{i}" + "x" * 100).encode(), headers=[("n", str(i).encode())])
            for i in range(count)
        ]
        for future in futures:
            future.get(timeout=SECONDS)
        if "transactional" in given:
            producer.commit_transaction()
        producer.close()
        say("produced", codec=codec, count=len(futures))


def lag(words):
    given = arguments(words, ["bootstrap", "group", "topic", "partitions"])
    consumer = KafkaConsumer(bootstrap_servers=given["bootstrap"], group_id=given["group"])
    partitions = [TopicPartition(given["topic"], p) for p in range(int(given["partitions"]))]
    ends = consumer.end_offsets(partitions)
    committed = {p: consumer.committed(p) for p in partitions}
    consumer.close()
    say("lag", lag={str(p.partition): ends[p] - o for p, o in committed.items() if o is not None})


VERBS = {"version": version, "produce": produce, "consume": consume.run, "lag": lag, "admin": admin.run}


def main():
    logging.basicConfig(level=logging.WARNING)
    try:
        VERBS[sys.argv[1]](sys.argv[2:])
    except Exception as error:  # the process ends with whatever it is
        say("error", error=text(error))
        sys.exit(1)


if __name__ == "__main__":
    main()
