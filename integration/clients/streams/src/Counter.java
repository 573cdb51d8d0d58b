import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.time.Duration;
import java.util.Properties;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StoreQueryParameters;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.errors.InvalidStateStoreException;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.kstream.Repartitioned;
import org.apache.kafka.streams.state.QueryableStoreTypes;

/**
 * Counts words: the values of topic "words" become keys, go through a repartition topic, and are counted in a store with
 * a changelog; each new count goes to topic "counts". Arguments: the broker, the directory of the state, and settings
 * as NAME=VALUE. It prints "state NAME" at each change of its state, and answers lines of standard input:
 *
 *   tasks     its tasks, sorted:                     tasks 0_0 1_0
 *   store     what its part of the store holds:      store a=1 b=2
 *   close     ends in good order
 */
public final class Counter {
    public static void main(String[] args) throws Exception {
        Properties settings = new Properties();
        settings.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, args[0]);
        settings.put(StreamsConfig.STATE_DIR_CONFIG, args[1]);
        settings.put(StreamsConfig.APPLICATION_ID_CONFIG, "wordcount");
        settings.put(StreamsConfig.DEFAULT_KEY_SERDE_CLASS_CONFIG, Serdes.StringSerde.class);
        settings.put(StreamsConfig.DEFAULT_VALUE_SERDE_CLASS_CONFIG, Serdes.StringSerde.class);
        for (int i = 2; i < args.length; i++) {
            String[] setting = args[i].split("=", 2);
            settings.put(setting[0], setting[1]);
        }

        StreamsBuilder builder = new StreamsBuilder();
        builder.stream("words", Consumed.with(Serdes.String(), Serdes.String()))
            .selectKey((key, word) -> word)
            .repartition(Repartitioned.as("by-word"))
            .groupByKey()
            .count(Materialized.as("count"))
            .toStream()
            .to("counts", Produced.with(Serdes.String(), Serdes.Long()));

        KafkaStreams streams = new KafkaStreams(builder.build(), settings);
        streams.setStateListener((now, before) -> say("state " + now));
        streams.start();
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in));
        for (String command = commands.readLine(); command != null && !command.equals("close"); command = commands.readLine()) {
            say(command.equals("tasks") ? tasks(streams) : store(streams));
        }
        streams.close(Duration.ofSeconds(30));
    }

    private static String tasks(KafkaStreams streams) {
        TreeSet<String> tasks = new TreeSet<>();
        streams.metadataForLocalThreads().forEach(thread -> thread.activeTasks().forEach(task -> tasks.add(task.taskId().toString())));
        return "tasks " + String.join(" ", tasks);
    }

    private static String store(KafkaStreams streams) {
        TreeMap<String, Long> counts = new TreeMap<>();
        var type = QueryableStoreTypes.<String, Long>keyValueStore();
        try (var all = streams.store(StoreQueryParameters.fromNameAndType("count", type)).all()) {
            all.forEachRemaining(entry -> counts.put(entry.key, entry.value));
        } catch (InvalidStateStoreException e) {
            return "store not ready: " + e.getMessage();
        }
        StringBuilder line = new StringBuilder("store");
        counts.forEach((word, n) -> line.append(' ').append(word).append('=').append(n));
        return line.toString();
    }

    private static synchronized void say(String line) {
        System.out.println(line);
    }
}
