package worker;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.Future;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.serialization.StringSerializer;

/** The verb produce: records by each codec, from a producer that has its defaults otherwise, and so is idempotent. */
final class Produce {
    private Produce() {}

    static void run(Options options) throws Exception {
        for (String codec : options.need("codecs").split(",")) {
            produce(options, codec);
        }
    }

    private static void produce(Options options, String codec) throws Exception {
        Properties properties = new Properties();
        properties.put(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, options.need("bootstrap"));
        properties.put(ProducerConfig.COMPRESSION_TYPE_CONFIG, codec);
        options.pass("transactional", properties, ProducerConfig.TRANSACTIONAL_ID_CONFIG);
        int count = options.number("count");
        int partitions = options.number("partitions");
        String topic = options.need("topic") + "-" + codec;
        String tail = "x".repeat(100);
        try (Producer<String, String> producer =
                new KafkaProducer<>(properties, new StringSerializer(), new StringSerializer())) {
            boolean transactional = options.get("transactional") != null;
            if (transactional) {
                producer.initTransactions();
                producer.beginTransaction();
            }
            List<Future<RecordMetadata>> acknowledgements = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                ProducerRecord<String, String> record =
                        new ProducerRecord<>(topic, i % partitions, "k" + i, codec + "-" + i + tail);
                record.headers().add("n", Integer.toString(i).getBytes(StandardCharsets.UTF_8));
                acknowledgements.add(producer.send(record));
            }
            producer.flush();
            for (Future<RecordMetadata> acknowledgement : acknowledgements) {
                acknowledgement.get();
            }
            if (transactional) {
                producer.commitTransaction();
            }
        }
        Out.event("produced", "codec", codec, "count", count);
    }
}
