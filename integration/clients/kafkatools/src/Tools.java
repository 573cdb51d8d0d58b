import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.kafka.common.utils.internals.Exit;

/**
 * Runs many command line tools one after the other in one JVM, through their own main methods: a start of the JVM costs
 * more than the tool's work. Each line of standard input is what the tool finds on its standard input, a class and its
 * arguments, separated by tabs; each answer is one line, CODE TAB OUT TAB ERR, where CODE is what the process would have
 * ended with. In both \n, \t and \\ are escaped.
 */
public final class Tools {
    /** Takes the place of the end of the process: tools end through Exit, which can be told what to do instead. */
    private static final class Ended extends Error {
        Ended() {
            super(null, null, false, false);
        }
    }

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();
    private final List<Runnable> hooks = new ArrayList<>();
    private String answer;

    public static void main(String[] unused) throws Exception {
        PrintStream answers = System.out;
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            answers.println(new Tools().run(line.split("\t", -1)));
        }
        Runtime.getRuntime().halt(0);
    }

    private String run(String[] words) throws Exception {
        System.setIn(new ByteArrayInputStream(unescape(words[0]).getBytes()));
        System.setOut(new PrintStream(out, true));
        System.setErr(new PrintStream(err, true));
        Exit.setExitProcedure((code, message) -> end(code));
        Exit.setHaltProcedure((code, message) -> end(code));
        Exit.setShutdownHookAdder((name, hook) -> hooks.add(hook));
        try {
            Class.forName(words[1]).getMethod("main", String[].class)
                .invoke(null, (Object) Arrays.copyOfRange(words, 2, words.length));
            answer(0);
        } catch (InvocationTargetException e) {
            if (!(e.getCause() instanceof Ended)) {
                e.getCause().printStackTrace();
                answer(1);
            }
        }
        return answer;
    }

    private void end(int code) {
        answer(code);
        throw new Ended();
    }

    /** The first end counts: some tools catch whatever is thrown, print it and end again. */
    private synchronized void answer(int code) {
        if (answer == null) {
            hooks.forEach(Runnable::run);
            System.out.flush();
            System.err.flush();
            answer = code + "\t" + escape(out.toString()) + "\t" + escape(err.toString());
        }
    }

    private static String escape(String s) {
        return s.replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t");
    }

    private static String unescape(String s) {
        StringBuilder plain = new StringBuilder();
        for (int i = 0; i < s.length(); i++) {
            char c = s.charAt(i);
            if (c == '\\') {
                i++;
                c = s.charAt(i) == 'n' ? '\n' : s.charAt(i) == 't' ? '\t' : s.charAt(i);
            }
            plain.append(c);
        }
        return plain.toString();
    }
}
