package dev.podfate;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * {@code Bench compiled|interpreter [--json]}: what a decision costs, each the best of several rounds. With {@code --json} one line:
 * engine, version, module and a list of figures with name, value and unit.
 */
public final class Bench {
    private static final String POD = "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\"},\"spec\":{\"restartPolicy\":\"Never\",\"containers\":["
            + "{\"name\":\"main\",\"image\":\"i\",\"restartPolicy\":\"Never\",\"restartPolicyRules\":["
            + "{\"action\":\"Restart\",\"exitCodes\":{\"operator\":\"In\",\"values\":[42]}}]}]}}";
    private static final int RECORDS = 10_000;

    private final List<Map<String, Object>> figures = new ArrayList<>();

    private Bench() {}

    public static void main(String[] arguments) {
        Engine.Mode mode = Engine.Mode.valueOf(arguments[0].toUpperCase(Locale.ROOT));
        boolean compiled = mode == Engine.Mode.COMPILED;
        Bench bench = new Bench();
        bench.measure("the first engine of a process, and its first answer", "ms", 1e6, 1, 1, () -> engine(mode).describe());
        Engine engine = engine(mode);
        Policy policy = engine.compile(POD);
        ByteBuffer events = ByteBuffer.allocate(RECORDS * Event.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < RECORDS; i++) {
            new Event(i % 256).write(events);
        }
        events.flip();
        bench.measure("batch, buffer in and out", "ns", 1, RECORDS, compiled ? 400 : 8, () -> policy.batch(events));
        byte[] event = "{\"container\":\"main\",\"exitCode\":42}".getBytes(StandardCharsets.UTF_8);
        int times = compiled ? 5_000 : 200;
        bench.measure("eval, bytes in, text out", "us", 1e3, times, compiled ? 40 : 10, () -> {
            for (int n = 0; n < times; n++) {
                policy.eval(event);
            }
        });
        byte[] request = ("{\"manifest\":" + POD + ",\"exits\":[{\"container\":\"main\",\"exitCode\":42}]}").getBytes(StandardCharsets.UTF_8);
        bench.measure("decide", "us", 1e3, 100, compiled ? 40 : 5, () -> {
            for (int n = 0; n < 100; n++) {
                engine.call(Operation.DECIDE.number, request);
            }
        });
        bench.measure("another engine", "ms", 1e6, 1, 4, () -> engine(mode));
        if (Arrays.asList(arguments).contains("--json")) {
            StringBuilder out = new StringBuilder();
            Map<String, Object> line = new LinkedHashMap<>();
            line.put("engine", "endive-" + arguments[0]);
            line.put("version", Runtime.version().toString());
            line.put("module", engine.sha256());
            Json.write(out, line);
            // The writer of the library knows no fractions.
            out.setCharAt(out.length() - 1, ',');
            out.append("\"figures\":[");
            for (Map<String, Object> figure : bench.figures) {
                out.append(bench.figures.get(0) == figure ? "" : ",").append(String.format(Locale.ROOT, "{\"name\":\"%s\",\"value\":%.3f,\"unit\":\"%s\"}",
                        figure.get("name"), figure.get("value"), figure.get("unit")));
            }
            System.out.println(out.append("]}"));
        } else {
            for (Map<String, Object> figure : bench.figures) {
                System.out.printf(Locale.ROOT, "%9.2f %-2s %s%n", figure.get("value"), figure.get("unit"), figure.get("name"));
            }
        }
    }

    private static Engine engine(Engine.Mode mode) {
        return Engine.builder().mode(mode).instances(1).build();
    }

    /** Notes the shortest time of one of count calls, in a unit of so many nanoseconds. */
    private void measure(String name, String unit, double nanoseconds, int count, int rounds, Runnable call) {
        double best = Double.MAX_VALUE;
        for (int round = 0; round < rounds; round++) {
            long start = System.nanoTime();
            call.run();
            best = Math.min(best, System.nanoTime() - start);
        }
        figures.add(Map.of("name", name, "unit", unit, "value", best / nanoseconds / count));
    }
}
