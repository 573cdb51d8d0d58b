package worker;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;

/** Standard output: one JSON object a line, each written at once and whole. */
final class Out {
    private static final FileOutputStream STDOUT = new FileOutputStream(FileDescriptor.out);

    private Out() {}

    /** Prints an event; the rest are names and values by turns. */
    static void event(String event, Object... rest) {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("event", event);
        for (int i = 0; i < rest.length; i += 2) {
            fields.put((String) rest[i], rest[i + 1]);
        }
        StringBuilder line = new StringBuilder();
        value(line, fields);
        line.append('\n');
        try {
            STDOUT.write(line.toString().getBytes(StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static void error(Throwable e) {
        event("error", "error", words(e));
    }

    /** The client's own words: class and message, then those of the causes, as far as they say more. */
    static String words(Throwable e) {
        while ((e instanceof ExecutionException || e instanceof CompletionException) && e.getCause() != null) {
            e = e.getCause();
        }
        StringBuilder words = new StringBuilder(e.getClass().getSimpleName() + ": " + e.getMessage());
        for (Throwable c = e.getCause(); c != null; c = c.getCause()) {
            if (c.getMessage() != null && words.indexOf(c.getMessage()) < 0) {
                words.append(": ").append(c.getClass().getSimpleName()).append(": ").append(c.getMessage());
            }
        }
        return words.toString();
    }

    private static void value(StringBuilder to, Object value) {
        if (value == null || value instanceof Number || value instanceof Boolean) {
            to.append(value);
        } else if (value instanceof Map<?, ?> map) {
            String comma = "";
            to.append('{');
            for (Map.Entry<?, ?> entry : map.entrySet()) {
                to.append(comma);
                string(to, entry.getKey().toString());
                to.append(':');
                value(to, entry.getValue());
                comma = ",";
            }
            to.append('}');
        } else if (value instanceof Collection<?> list) {
            String comma = "";
            to.append('[');
            for (Object element : list) {
                to.append(comma);
                value(to, element);
                comma = ",";
            }
            to.append(']');
        } else {
            string(to, value.toString());
        }
    }

    private static void string(StringBuilder to, String text) {
        to.append('"');
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '"' || c == '\\') {
                to.append('\\').append(c);
            } else if (c < ' ') {
                to.append(String.format("\\u%04x", (int) c));
            } else {
                to.append(c);
            }
        }
        to.append('"');
    }
}
