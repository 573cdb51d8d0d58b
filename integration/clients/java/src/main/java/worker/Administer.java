package worker;

import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.ConsumerGroupDescription;
import org.apache.kafka.clients.admin.DescribeClusterResult;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.TopicPartitionInfo;
import org.apache.kafka.common.config.ConfigResource;

/** The verb admin: each command is one call of the admin client, or two. */
final class Administer {
    private final Options options;
    private final Commands commands = new Commands();
    private Admin admin;

    Administer(Options options) {
        this.options = options;
    }

    void run() throws InterruptedException {
        Properties properties = new Properties();
        properties.put(AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG, options.need("bootstrap"));
        try (Admin client = Admin.create(properties)) {
            admin = client;
            for (String[] command = commands.take(); !command[0].equals("close"); command = commands.take()) {
                try {
                    Out.event("ok", "result", answer(command));
                } catch (ExecutionException | RuntimeException e) {
                    Out.event("failed", "error", Out.words(e));
                }
            }
        }
    }

    private Map<String, Object> answer(String[] c) throws ExecutionException, InterruptedException {
        return switch (c[0]) {
            case "create_topic" -> done(admin.createTopics(
                    List.of(new NewTopic(c[1], Optional.of(Integer.parseInt(c[2])), Optional.empty()))).all());
            case "create_partitions" -> done(admin.createPartitions(
                    Map.of(c[1], NewPartitions.increaseTo(Integer.parseInt(c[2])))).all());
            case "list_topics" -> Map.of("topics", new TreeSet<>(admin.listTopics().names().get()));
            case "describe_topic" -> Map.of("partitions", partitions(c[1]).size());
            case "describe_config" -> Map.of("value", config(c[1], c[2]));
            case "alter_config" -> done(admin.incrementalAlterConfigs(Map.of(resource(c[1]),
                    List.of(new AlterConfigOp(new ConfigEntry(c[2], c[3]), AlterConfigOp.OpType.SET)))).all());
            case "list_offsets" -> Map.of("earliest", offsets(c[1], OffsetSpec.earliest()),
                    "latest", offsets(c[1], OffsetSpec.latest()));
            case "offsets_by_time" -> Map.of("offsets", offsets(c[1], OffsetSpec.forTimestamp(Long.parseLong(c[2]))));
            case "delete_records" -> done(admin.deleteRecords(Map.of(partition(c[1], c[2]),
                    RecordsToDelete.beforeOffset(Long.parseLong(c[3])))).all());
            case "delete_topic" -> done(admin.deleteTopics(List.of(c[1])).all());
            case "describe_cluster" -> cluster();
            default -> group(c);
        };
    }

    private Map<String, Object> group(String[] c) throws ExecutionException, InterruptedException {
        return switch (c[0]) {
            case "list_groups" -> Map.of("groups", Generation.list(admin));
            case "describe_group" -> {
                ConsumerGroupDescription group = admin.describeConsumerGroups(List.of(c[1])).all().get().get(c[1]);
                yield Map.of("state", Generation.state(group), "members", group.members().size());
            }
            case "group_offsets" -> Map.of("offsets", committed(c[1], c[2]));
            case "alter_group_offsets" -> done(admin.alterConsumerGroupOffsets(c[1],
                    Map.of(partition(c[2], c[3]), new OffsetAndMetadata(Long.parseLong(c[4])))).all());
            case "delete_group_offsets" -> done(
                    admin.deleteConsumerGroupOffsets(c[1], Set.of(partition(c[2], c[3]))).all());
            case "delete_group" -> done(admin.deleteConsumerGroups(List.of(c[1])).all());
            default -> throw new IllegalArgumentException("no such command: " + c[0]);
        };
    }

    private static Map<String, Object> done(KafkaFuture<Void> future) throws ExecutionException, InterruptedException {
        future.get();
        return Map.of();
    }

    private static TopicPartition partition(String topic, String number) {
        return new TopicPartition(topic, Integer.parseInt(number));
    }

    private static ConfigResource resource(String topic) {
        return new ConfigResource(ConfigResource.Type.TOPIC, topic);
    }

    private Collection<TopicPartitionInfo> partitions(String topic) throws ExecutionException, InterruptedException {
        Map<String, TopicDescription> topics = admin.describeTopics(List.of(topic)).allTopicNames().get();
        return topics.get(topic).partitions();
    }

    private String config(String topic, String name) throws ExecutionException, InterruptedException {
        ConfigResource resource = resource(topic);
        ConfigEntry entry = admin.describeConfigs(List.of(resource)).all().get().get(resource).get(name);
        if (entry == null) {
            throw new IllegalArgumentException("no such config: " + name);
        }
        return entry.value();
    }

    private Map<Integer, Long> offsets(String topic, OffsetSpec spec) throws ExecutionException, InterruptedException {
        Map<TopicPartition, OffsetSpec> asked = new HashMap<>();
        for (TopicPartitionInfo info : partitions(topic)) {
            asked.put(new TopicPartition(topic, info.partition()), spec);
        }
        Map<Integer, Long> offsets = new TreeMap<>();
        admin.listOffsets(asked).all().get().forEach((partition, found) -> offsets.put(partition.partition(), found.offset()));
        return offsets;
    }

    private Map<Integer, Long> committed(String group, String topic) throws ExecutionException, InterruptedException {
        Map<Integer, Long> offsets = new TreeMap<>();
        admin.listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata().get().forEach((partition, offset) -> {
            if (partition.topic().equals(topic) && offset != null) {
                offsets.put(partition.partition(), offset.offset());
            }
        });
        return offsets;
    }

    private Map<String, Object> cluster() throws ExecutionException, InterruptedException {
        DescribeClusterResult cluster = admin.describeCluster();
        return Map.of("cluster", cluster.clusterId().get(), "brokers", cluster.nodes().get().size(),
                "controller", cluster.controller().get().id());
    }
}
