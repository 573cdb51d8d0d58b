package worker;

import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.clients.consumer.InvalidOffsetException;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.consumer.OffsetAndTimestamp;
import org.apache.kafka.clients.consumer.RangeAssignor;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.serialization.StringDeserializer;

/** The verb consume: a member of a group, whose one thread polls and, between two polls, does what standard input says. */
final class Consume implements ConsumerRebalanceListener {
    private static final Duration POLL = Duration.ofMillis(100);

    private final Options options;
    private final String topic;
    private final Commands commands = new Commands();
    private final Map<TopicPartition, OffsetAndMetadata> read = new HashMap<>();
    private Set<Integer> owned;
    private Consumer<String, String> consumer;
    private String complaint;

    Consume(Options options) {
        this.options = options;
        topic = options.need("topic");
    }

    private Properties properties() {
        Properties properties = new Properties();
        properties.put(ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG, options.need("bootstrap"));
        properties.put(ConsumerConfig.GROUP_ID_CONFIG, options.need("group"));
        options.pass("reset", properties, ConsumerConfig.AUTO_OFFSET_RESET_CONFIG);
        options.pass("auto_ms", properties, ConsumerConfig.AUTO_COMMIT_INTERVAL_MS_CONFIG);
        options.pass("session_ms", properties, ConsumerConfig.SESSION_TIMEOUT_MS_CONFIG);
        options.pass("heartbeat_ms", properties, ConsumerConfig.HEARTBEAT_INTERVAL_MS_CONFIG);
        options.pass("instance", properties, ConsumerConfig.GROUP_INSTANCE_ID_CONFIG);
        options.pass("client", properties, ConsumerConfig.CLIENT_ID_CONFIG);
        options.pass("group_protocol", properties, "group.protocol");
        if (options.get("commit") != null) {
            properties.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, Boolean.toString(options.get("commit").equals("auto")));
        }
        if (options.get("strategy") != null) {
            properties.put(ConsumerConfig.PARTITION_ASSIGNMENT_STRATEGY_CONFIG, switch (options.get("strategy")) {
                case "eager" -> RangeAssignor.class.getName();
                case "cooperative" -> CooperativeStickyAssignor.class.getName();
                default -> throw new IllegalArgumentException("no such strategy: " + options.get("strategy"));
            });
        }
        return properties;
    }

    /** Polls until it is told to close; returns the exit code. */
    int run() throws InterruptedException {
        consumer = new KafkaConsumer<>(properties(), new StringDeserializer(), new StringDeserializer());
        try {
            consumer.subscribe(Set.of(topic), this);
            while (turn()) {
                poll();
            }
        } catch (RuntimeException e) {
            Out.error(e);
            e.printStackTrace();
            consumer.close();
            return 1;
        }
        consumer.close();
        Out.event("closed");
        return 0;
    }

    /** Does the commands that are there; while held, it waits for them. False means that it is to close. */
    private boolean turn() throws InterruptedException {
        boolean holding = false;
        // An error may come back from each poll without any wait, so this waits in its stead.
        String[] command = complaint == null ? commands.poll() : commands.poll(POLL.toMillis());
        while (command != null) {
            switch (command[0]) {
                case "close" -> {
                    return false;
                }
                case "hold" -> {
                    holding = true;
                    Out.event("holding");
                }
                case "go" -> {
                    holding = false;
                    Out.event("going");
                }
                default -> answer(command);
            }
            command = holding ? commands.take() : commands.poll();
        }
        return true;
    }

    private void poll() {
        try {
            for (ConsumerRecord<String, String> record : consumer.poll(POLL)) {
                Out.event("record", "partition", record.partition(), "offset", record.offset(), "key", record.key(),
                        "value", record.value(), "timestamp", record.timestamp());
                read.put(new TopicPartition(record.topic(), record.partition()), new OffsetAndMetadata(record.offset() + 1));
            }
            complaint = null;
        } catch (InvalidOffsetException | RetriableException e) {
            String words = Out.words(e);
            if (!words.equals(complaint)) {
                Out.error(e);
            }
            complaint = words;
        }
    }

    private void answer(String[] command) {
        switch (command[0]) {
            case "commit" -> commit();
            case "committed" -> answer("offsets", this::committed);
            case "seek" -> answer("sought", () -> seek(Integer.parseInt(command[1]), Long.parseLong(command[2])));
            case "seek_time" -> answer("sought", () -> seekTime(Long.parseLong(command[1])));
            default -> throw new IllegalArgumentException("no such command: " + command[0]);
        }
    }

    private interface Asked {
        Map<Integer, Long> offsets();
    }

    private static void answer(String event, Asked asked) {
        Map<Integer, Long> offsets;
        try {
            offsets = asked.offsets();
        } catch (KafkaException | IllegalStateException e) {
            Out.error(e);
            return;
        }
        Out.event(event, "offsets", offsets);
    }

    private void commit() {
        Map<TopicPartition, OffsetAndMetadata> offsets = Map.copyOf(read);
        try {
            consumer.commitSync(offsets);
        } catch (KafkaException e) {
            Out.event("commit_failed", "error", Out.words(e));
            return;
        }
        Map<Integer, Long> committed = new TreeMap<>();
        offsets.forEach((partition, offset) -> committed.put(partition.partition(), offset.offset()));
        Out.event("committed", "offsets", committed);
    }

    private Map<Integer, Long> committed() {
        Map<Integer, Long> offsets = new TreeMap<>();
        consumer.committed(consumer.assignment())
                .forEach((partition, offset) -> offsets.put(partition.partition(), offset == null ? -1 : offset.offset()));
        return offsets;
    }

    private Map<Integer, Long> seek(int partition, long offset) {
        consumer.seek(new TopicPartition(topic, partition), offset);
        return Map.of(partition, offset);
    }

    private Map<Integer, Long> seekTime(long ms) {
        Map<TopicPartition, Long> times = new HashMap<>();
        consumer.assignment().forEach(partition -> times.put(partition, ms));
        Map<TopicPartition, OffsetAndTimestamp> found = consumer.offsetsForTimes(times);
        Map<TopicPartition, Long> ends = consumer.endOffsets(times.keySet());
        Map<Integer, Long> offsets = new TreeMap<>();
        for (TopicPartition partition : times.keySet()) {
            OffsetAndTimestamp at = found.get(partition);
            long offset = at == null ? ends.get(partition) : at.offset();
            consumer.seek(partition, offset);
            offsets.put(partition.partition(), offset);
        }
        return offsets;
    }

    @Override
    public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
        owns(consumer.assignment());
    }

    @Override
    public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
        read.keySet().removeAll(partitions);
        Set<TopicPartition> left = new HashSet<>(consumer.assignment());
        left.removeAll(partitions);
        owns(left);
    }

    @Override
    public void onPartitionsLost(Collection<TopicPartition> partitions) {
        onPartitionsRevoked(partitions);
    }

    private void owns(Set<TopicPartition> partitions) {
        Set<Integer> now = new TreeSet<>();
        partitions.forEach(partition -> now.add(partition.partition()));
        if (!now.equals(owned)) {
            Out.event("assigned", "partitions", now);
        }
        owned = now;
    }
}
