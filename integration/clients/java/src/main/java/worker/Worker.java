package worker;

/** A client as its manual shows it, driven by lines: see ../../README.md for the verbs and what they print. */
public final class Worker {
    private Worker() {}

    public static void main(String[] args) {
        int code;
        try {
            code = run(args);
        } catch (Exception e) {
            Out.error(e);
            e.printStackTrace();
            code = 1;
        }
        System.exit(code);
    }

    private static int run(String[] args) throws Exception {
        if (args.length == 0) {
            throw new IllegalArgumentException("no verb");
        }
        Options options = new Options(args);
        switch (args[0]) {
            case "version" -> Out.event("version", "version", Generation.version());
            case "produce" -> Produce.run(options);
            case "consume" -> {
                return new Consume(options).run();
            }
            case "lag" -> Lag.run(options);
            case "admin" -> new Administer(options).run();
            case "warm" -> Warm.run();
            default -> throw new IllegalArgumentException("no such verb: " + args[0]);
        }
        return 0;
    }
}
