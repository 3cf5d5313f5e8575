package dev.podfate;

import java.lang.ref.Cleaner;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Map;

/**
 * A compiled manifest, made by {@link Engine#compile(Request)}. Safe to use from any number of threads.
 *
 * <p>Each instance compiles the manifest at its first use, so a policy outlives the instances that a trap destroys. A policy that is
 * closed, or forgotten, takes no room in the module any more.
 */
public final class Policy implements AutoCloseable {
    private static final Cleaner CLEANER = Cleaner.create();

    /** Records in one call of the module. */
    private static final int MAX_RECORDS = 65536;

    private static final int FLAGS_OFFSET = 6;

    /** What a policy was compiled from. Instances know a policy by it, so that they keep no policy alive. */
    static final class Source {
        private final byte[] request;
        private volatile boolean closed;

        Source(byte[] request) {
            this.request = request;
        }

        boolean closed() {
            return closed;
        }
    }

    /**
     * A type and status of a Pod's condition that the policy asks about.
     *
     * @param type such as {@code DisruptionTarget}
     * @param status such as {@code True}
     */
    public record Condition(String type, String status) {}

    private final Engine engine;
    private final Source source;
    private final Cleaner.Cleanable closing;
    private final Map<String, Object> json;
    private final List<String> containers;
    private final List<Condition> conditions;

    Policy(Engine engine, byte[] request) {
        this.engine = engine;
        this.source = new Source(request);
        this.json = engine.with(guest -> compile(guest, source));
        this.containers = Values.list(json.get("containers")).stream().map(String::valueOf).toList();
        this.conditions = Values.list(json.get("conditions")).stream().map(Values::map)
                .map(c -> new Condition(Values.text(c, "type"), Values.text(c, "status"))).toList();
        Source closed = source; // the cleaner must not know the policy
        this.closing = CLEANER.register(this, () -> {
            closed.closed = true;
            engine.policyClosed();
        });
    }

    private static Map<String, Object> compile(Guest guest, Source source) {
        Answer answer = guest.compile(source.request);
        if (answer.failed() && !guest.handles.isEmpty() && lacksHandles(answer)) {
            for (int handle : guest.handles.values()) { // of other policies, which compile again when they are used
                guest.release(handle);
            }
            guest.handles.clear();
            answer = guest.compile(source.request);
        }
        Map<String, Object> value = answer.orThrow(false);
        guest.handles.put(source, (int) Values.number(value, "handle", 0));
        return value;
    }

    private static boolean lacksHandles(Answer answer) {
        String limit = Values.text(Values.map(answer.json().get("error")), "limit");
        return limit.equals("handles") || limit.equals("handleBytes");
    }

    private void open() {
        if (source.closed) {
            throw PodfateException.of(5, "the policy is closed");
        }
    }

    private int handle(Guest guest) {
        open();
        Integer handle = guest.handles.get(source);
        if (handle == null) {
            compile(guest, source);
            handle = guest.handles.get(source);
        }
        return handle;
    }

    /** Names of the containers; an {@link Event} has the position in this list.
     *
     * @return main containers, then init, then ephemeral ones
     */
    public List<String> containers() {
        return containers;
    }

    /** Conditions that the policy asks about; bit i of an event's conditions stands for the i-th.
     *
     * @return empty for a manifest without podFailurePolicy
     */
    public List<Condition> conditions() {
        return conditions;
    }

    /** All that compiling answered, with warnings and the cluster that was assumed.
     *
     * @return the object
     */
    public Map<String, Object> json() {
        return json;
    }

    /** Ends the policy. Instances free its handle after their next call. */
    @Override
    public void close() {
        closing.clean();
    }

    /** What happens after one exit?
     *
     * @param exit the exit; with a history, a restart has a delay
     * @return the decision, without trace
     */
    public Decision decide(Exit exit) {
        return Decision.of(eval(Request.encode(exit.json())).orThrow(true));
    }

    /** One exit, as JSON.
     *
     * @param event UTF-8: {@code {"container":"main","exitCode":42}}
     * @return the decision as JSON, or an error payload
     */
    public Answer eval(byte[] event) {
        return engine.with(guest -> guest.eval(handle(guest), event));
    }

    /** What happens after each of these exits? Any number of them, without JSON.
     *
     * @param events the exits; one that makes no sense fails alone, with a status
     * @return a verdict for each
     */
    public List<Verdict> batch(List<Event> events) {
        return Verdict.unpack(batch(Event.pack(events), false));
    }

    /** What does the Job make of each of these failed Pods? Any number of them, without JSON.
     *
     * @param events one for each terminated container, containerStatuses before initContainerStatuses, all but the last of a Pod
     *     with {@link Event#MORE}
     * @return a verdict for each; that of a Pod is with its last event
     */
    public List<Verdict> batchPods(List<Event> events) {
        return Verdict.unpack(batch(Event.pack(events), true));
    }

    /** {@link #batch(List)} over bytes.
     *
     * @param events records of {@link Event#BYTES} from position to limit, little-endian; the buffer is left as it is
     * @return records of {@link Verdict#BYTES}, little-endian
     * @throws IllegalArgumentException if these are not whole records, or the buffer's order is another one, as that of a new buffer is
     */
    public ByteBuffer batch(ByteBuffer events) {
        return batch(events, false);
    }

    /** {@link #batchPods(List)} over bytes.
     *
     * @param events as for {@link #batch(ByteBuffer)}
     * @return as from {@link #batch(ByteBuffer)}
     * @throws IllegalArgumentException as from {@link #batch(ByteBuffer)}
     */
    public ByteBuffer batchPods(ByteBuffer events) {
        return batch(events, true);
    }

    private ByteBuffer batch(ByteBuffer events, boolean pods) {
        Event.littleEndian(events);
        if (events.remaining() % Event.BYTES != 0) {
            throw new IllegalArgumentException(events.remaining() + " bytes are not a number of records of " + Event.BYTES);
        }
        open(); // also for no events, which nobody is asked about
        int count = events.remaining() / Event.BYTES;
        byte[] array;
        int offset = 0;
        if (events.hasArray()) {
            array = events.array();
            offset = events.arrayOffset() + events.position();
        } else {
            array = new byte[events.remaining()];
            events.duplicate().get(array);
        }
        ByteBuffer out = ByteBuffer.allocate(Math.multiplyExact(count, Verdict.BYTES)).order(ByteOrder.LITTLE_ENDIAN);
        for (int start = 0; start < count; ) {
            int end = pods ? wholePods(array, offset, start, count) : Math.min(start + MAX_RECORDS, count);
            int from = offset + start * Event.BYTES;
            int records = end - start;
            engine.with(guest -> {
                guest.batch(handle(guest), Event.header(records, pods), array, from, records, out);
                return null;
            });
            start = end;
        }
        return out.flip();
    }

    /** Where a call that begins with record start ends, so that it has no half of a Pod. */
    private static int wholePods(byte[] array, int offset, int start, int count) {
        int end = Math.min(start + MAX_RECORDS, count);
        if (end == count) {
            return end;
        }
        while (end > start && (array[offset + (end - 1) * Event.BYTES + FLAGS_OFFSET] & Event.MORE) != 0) {
            end--;
        }
        return end > start ? end : Math.min(start + MAX_RECORDS + 1, count); // one Pod of more records than a call takes: the module says so
    }
}
