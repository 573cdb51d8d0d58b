package worker;

import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.admin.ListOffsetsResult.ListOffsetsResultInfo;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;

/** The verb lag: end minus committed, as the admin client sees both. */
final class Lag {
    private Lag() {}

    static void run(Options options) throws Exception {
        Properties properties = new Properties();
        properties.put(AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG, options.need("bootstrap"));
        Map<TopicPartition, OffsetSpec> latest = new HashMap<>();
        for (int i = 0; i < options.number("partitions"); i++) {
            latest.put(new TopicPartition(options.need("topic"), i), OffsetSpec.latest());
        }
        Map<Integer, Long> lag = new TreeMap<>();
        try (Admin admin = Admin.create(properties)) {
            Map<TopicPartition, OffsetAndMetadata> committed =
                    admin.listConsumerGroupOffsets(options.need("group")).partitionsToOffsetAndMetadata().get();
            Map<TopicPartition, ListOffsetsResultInfo> ends = admin.listOffsets(latest).all().get();
            ends.forEach((partition, end) -> {
                OffsetAndMetadata offset = committed.get(partition);
                if (offset != null) {
                    lag.put(partition.partition(), end.offset() - offset.offset());
                }
            });
        }
        Out.event("lag", "lag", lag);
    }
}
