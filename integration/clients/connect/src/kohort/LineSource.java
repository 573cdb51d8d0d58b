package kohort;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.connect.connector.Task;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.errors.RetriableException;
import org.apache.kafka.connect.source.SourceConnector;
import org.apache.kafka.connect.source.SourceRecord;
import org.apache.kafka.connect.source.SourceTask;

/** Sends the whole lines of a file to a topic, as keys and values, as they come; its position is the number of lines sent. */
public final class LineSource extends SourceConnector {
    private Map<String, String> props;

    @Override
    public void start(Map<String, String> props) {
        this.props = props;
    }

    @Override
    public void stop() {}

    @Override
    public Class<? extends Task> taskClass() {
        return Reader.class;
    }

    @Override
    public List<Map<String, String>> taskConfigs(int maxTasks) {
        return List.of(props);
    }

    @Override
    public ConfigDef config() {
        return config("lines are read from here").define("topic", ConfigDef.Type.STRING, ConfigDef.Importance.HIGH, "sent to");
    }

    static ConfigDef config(String what) {
        return new ConfigDef().define("file", ConfigDef.Type.STRING, ConfigDef.Importance.HIGH, what);
    }

    @Override
    public String version() {
        return "1";
    }

    /** The worker stores what users set through the REST interface; all positions are good ones. */
    @Override
    public boolean alterOffsets(Map<String, String> props, Map<Map<String, ?>, Map<String, ?>> offsets) {
        return true;
    }

    /** The one task. */
    public static final class Reader extends SourceTask {
        private Path file;
        private String topic;
        private List<String> lines = List.of();
        private int sent;

        @Override
        public void start(Map<String, String> props) {
            file = Path.of(props.get("file"));
            topic = props.get("topic");
            Map<String, Object> stored = context.offsetStorageReader().offset(partition());
            sent = stored == null ? 0 : ((Number) stored.get("lines")).intValue();
        }

        @Override
        public List<SourceRecord> poll() throws InterruptedException {
            List<SourceRecord> records = new ArrayList<>();
            try {
                if (sent >= lines.size() && Files.exists(file)) {
                    String text = Files.readString(file, StandardCharsets.UTF_8);
                    lines = text.substring(0, text.lastIndexOf('\n') + 1).lines().toList();
                }
                while (sent < lines.size() && records.size() < 100) {
                    String line = lines.get(sent++);
                    records.add(new SourceRecord(partition(), Map.of("lines", sent), topic, Schema.STRING_SCHEMA, line,
                        Schema.STRING_SCHEMA, line));
                }
            } catch (IOException e) {
                throw new RetriableException(e);
            }
            if (records.isEmpty()) {
                Thread.sleep(50);
            }
            return records;
        }

        private Map<String, String> partition() {
            return Map.of("file", file.toString());
        }

        @Override
        public void stop() {}

        @Override
        public String version() {
            return "1";
        }
    }
}
