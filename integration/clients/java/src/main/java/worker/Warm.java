package worker;

import java.time.Duration;
import java.util.List;
import java.util.Properties;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/** Loads the classes of each client without any broker, so that `install` can keep them in an archive for faster starts. */
final class Warm {
    private Warm() {}

    static void run() {
        Errors.forCode(Errors.NONE.code()); // there is a class for each
        Properties properties = new Properties();
        properties.put("bootstrap.servers", "127.0.0.1:1");
        properties.put("group.id", "warm");
        try (Consumer<String, String> consumer =
                new KafkaConsumer<>(properties, new StringDeserializer(), new StringDeserializer())) {
            consumer.subscribe(List.of("warm"));
            consumer.poll(Duration.ofMillis(100));
        }
        properties.remove("group.id");
        try (Producer<String, String> producer =
                        new KafkaProducer<>(properties, new StringSerializer(), new StringSerializer());
                Admin admin = Admin.create(properties)) {
            admin.listTopics();
            producer.close(Duration.ZERO);
            admin.close(Duration.ZERO);
        }
    }
}
