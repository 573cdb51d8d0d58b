package worker;

import java.util.HashMap;
import java.util.Map;
import java.util.Properties;

/** The name=value pairs behind the verb. */
final class Options {
    private final Map<String, String> values = new HashMap<>();

    Options(String[] args) {
        for (int i = 1; i < args.length; i++) {
            int equals = args[i].indexOf('=');
            if (equals < 0) {
                throw new IllegalArgumentException("not name=value: " + args[i]);
            }
            values.put(args[i].substring(0, equals), args[i].substring(equals + 1));
        }
    }

    /** The value, or null where it was not given. */
    String get(String name) {
        return values.get(name);
    }

    String need(String name) {
        String value = values.get(name);
        if (value == null) {
            throw new IllegalArgumentException(name + "= is missing");
        }
        return value;
    }

    int number(String name) {
        return Integer.parseInt(need(name));
    }

    /** Sets a property of the client to an option's value, or leaves the client's default where the option was not given. */
    void pass(String name, Properties properties, String property) {
        String value = values.get(name);
        if (value != null) {
            properties.put(property, value);
        }
    }
}
