package dev.podfate;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.function.IntConsumer;

/** {@code Bench}: prints start-up, evaluations and batches of both modes, each as the best of several rounds. */
public final class Bench {
    private static final String POD = "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\"},\"spec\":{\"restartPolicy\":\"Never\",\"containers\":["
            + "{\"name\":\"main\",\"image\":\"i\",\"restartPolicy\":\"Never\",\"restartPolicyRules\":["
            + "{\"action\":\"Restart\",\"exitCodes\":{\"operator\":\"In\",\"values\":[42]}}]}]}}";
    private static final int RECORDS = 10_000;

    private Bench() {}

    public static void main(String[] arguments) {
        System.out.println("| engine | first answer ms | another engine ms | eval µs | batch ns per record |");
        System.out.println("|---|---|---|---|---|");
        for (Engine.Mode mode : Engine.Mode.values()) {
            long start = System.nanoTime();
            engine(mode).describe();
            double first = (System.nanoTime() - start) / 1e6;
            double again = Double.MAX_VALUE;
            for (int round = 0; round < 3; round++) {
                start = System.nanoTime();
                engine(mode);
                again = Math.min(again, (System.nanoTime() - start) / 1e6);
            }
            Policy policy = engine(mode).compile(POD);
            byte[] event = "{\"container\":\"main\",\"exitCode\":42}".getBytes(StandardCharsets.UTF_8);
            boolean compiled = mode == Engine.Mode.COMPILED;
            double eval = best(compiled ? 20_000 : 1_000, n -> policy.eval(event));
            ByteBuffer events = ByteBuffer.allocate(RECORDS * Event.BYTES).order(ByteOrder.LITTLE_ENDIAN);
            for (int i = 0; i < RECORDS; i++) {
                new Event(i % 256).write(events);
            }
            events.flip();
            double batch = best(compiled ? 100 : 3, n -> policy.batch(events)) / RECORDS;
            System.out.printf("| endive-%s | %.0f | %.0f | %.2f | %.1f |%n", mode.name().toLowerCase(java.util.Locale.ROOT), first, again, eval / 1e3, batch);
        }
    }

    private static Engine engine(Engine.Mode mode) {
        return Engine.builder().mode(mode).build();
    }

    /** Nanoseconds of a call in the best of eight rounds. */
    private static double best(int times, IntConsumer call) {
        double best = Double.MAX_VALUE;
        for (int round = 0; round < 8; round++) {
            long start = System.nanoTime();
            for (int n = 0; n < times; n++) {
                call.accept(n);
            }
            best = Math.min(best, (double) (System.nanoTime() - start) / times);
        }
        return best;
    }
}
