package kohort;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.connect.connector.Task;
import org.apache.kafka.connect.errors.ConnectException;
import org.apache.kafka.connect.sink.SinkConnector;
import org.apache.kafka.connect.sink.SinkRecord;
import org.apache.kafka.connect.sink.SinkTask;

/**
 * Appends each record to a file as a line PARTITION SPACE OFFSET SPACE VALUE SEMICOLON, before its offset can be
 * committed. A kill may leave half a line; the next one begins anew, after an empty line.
 */
public final class LineSink extends SinkConnector {
    private Map<String, String> props;

    @Override
    public void start(Map<String, String> props) {
        this.props = props;
    }

    @Override
    public void stop() {}

    @Override
    public Class<? extends Task> taskClass() {
        return Writer.class;
    }

    @Override
    public List<Map<String, String>> taskConfigs(int maxTasks) {
        return Collections.nCopies(maxTasks, props);
    }

    @Override
    public ConfigDef config() {
        return LineSource.config("records are appended to this");
    }

    @Override
    public String version() {
        return "1";
    }

    @Override
    public boolean alterOffsets(Map<String, String> props, Map<TopicPartition, Long> offsets) {
        return true;
    }

    /** A task; several in a worker may append to the file, one after the other. */
    public static final class Writer extends SinkTask {
        private Path file;

        @Override
        public void start(Map<String, String> props) {
            file = Path.of(props.get("file"));
        }

        @Override
        public void put(Collection<SinkRecord> records) {
            StringBuilder lines = new StringBuilder("\n");
            for (SinkRecord r : records) {
                lines.append(r.kafkaPartition()).append(' ').append(r.kafkaOffset()).append(' ').append(r.value()).append(";\n");
            }
            synchronized (Writer.class) {
                try {
                    Files.writeString(file, lines, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
                } catch (IOException e) {
                    throw new ConnectException(e);
                }
            }
        }

        @Override
        public void stop() {}

        @Override
        public String version() {
            return "1";
        }
    }
}
