"""A worker for aiokafka: see ../README.md for what it prints and reads."""

import asyncio
import logging
import sys

import aiokafka
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition

import admin
import consume
from lines import arguments, say, text


async def version(words):
    arguments(words, [])
    say("version", version=aiokafka.__version__)


async def produce(words):
    given = arguments(words, ["bootstrap", "topic", "codecs", "count", "partitions"], ["transactional"])
    for codec in given["codecs"].split(","):
        config = {} if codec == "none" else {"compression_type": codec}
        if "transactional" in given:
            config["transactional_id"] = given["transactional"]
        producer = AIOKafkaProducer(bootstrap_servers=given["bootstrap"], **config)
        try:
            await producer.start()
            if "transactional" in given:
                async with producer.transaction():
                    sent = await send(producer, given, codec)
            else:
                sent = await send(producer, given, codec)
        finally:
            await producer.stop()
        say("produced", codec=codec, count=sent)


async def send(producer, given, codec):
    """Produces the records, waits until all are acknowledged, and returns how many they are."""
    futures = [
        await producer.send(f"{given['topic']}-{codec}", partition=i % int(given["partitions"]), key=f"k{i}".encode(),
                            value=(f"{codec}-{i}" + "x" * 100).encode(), headers=[("n", str(i).encode())])
        for i in range(int(given["count"]))
    ]
    return len(await asyncio.gather(*futures))


async def lag(words):
    given = arguments(words, ["bootstrap", "group", "topic", "partitions"])
    consumer = AIOKafkaConsumer(bootstrap_servers=given["bootstrap"], group_id=given["group"])
    await consumer.start()
    try:
        partitions = [TopicPartition(given["topic"], p) for p in range(int(given["partitions"]))]
        ends = await consumer.end_offsets(partitions)
        committed = {p: await consumer.committed(p) for p in partitions}
    finally:
        await consumer.stop()
    say("lag", lag={str(p.partition): ends[p] - o for p, o in committed.items() if o is not None})


VERBS = {"version": version, "produce": produce, "consume": consume.run, "lag": lag, "admin": admin.run}


def main():
    logging.basicConfig(level=logging.WARNING)
    try:
        asyncio.run(VERBS[sys.argv[1]](sys.argv[2:]))
    except Exception as error:  # the process ends with whatever it is
        say("error", error=text(error))
        sys.exit(1)


if __name__ == "__main__":
    main()
