package worker;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** Standard input: one command a line, its words split; the end of input is the command close. */
final class Commands {
    private static final String[] CLOSE = {"close"};

    private final BlockingQueue<String[]> lines = new LinkedBlockingQueue<>();

    Commands() {
        Thread reader = new Thread(this::read, "stdin");
        reader.setDaemon(true);
        reader.start();
    }

    private void read() {
        try (BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                if (!line.isBlank()) {
                    lines.add(line.trim().split("\\s+"));
                }
            }
        } catch (IOException e) {
            e.printStackTrace();
        }
        lines.add(CLOSE);
    }

    /** The next command, or null if there is none now. */
    String[] poll() {
        return lines.poll();
    }

    /** The next command, or null if none comes in time. */
    String[] poll(long ms) throws InterruptedException {
        return lines.poll(ms, TimeUnit.MILLISECONDS);
    }

    String[] take() throws InterruptedException {
        return lines.take();
    }
}
