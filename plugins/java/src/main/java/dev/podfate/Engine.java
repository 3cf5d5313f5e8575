package dev.podfate;

import dev.podfate.compiled.Module;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import run.endive.runtime.Instance;
import run.endive.runtime.InterpreterMachine;
import run.endive.runtime.Machine;
import run.endive.wasm.Parser;
import run.endive.wasm.WasmModule;

/**
 * Podfate's module, ready to answer. Safe to use from any number of threads: it lends an instance of the module to one caller at
 * a time, and has at most so many of them. It holds nothing but memory, so it need not be closed.
 *
 * <p>A thread that is interrupted during a call gets a {@link PodfateException} with code {@code INTERRUPTED}, and its instance is dropped.
 */
public final class Engine {
    /** How the module is run. The answers are the same. */
    public enum Mode {
        /** As classes of the JVM, made from the module when this library was built. */
        COMPILED,
        /** By an interpreter: far slower, but it runs a module that comes at run time. */
        INTERPRETER
    }

    private final WasmModule module;
    private final Function<Instance, Machine> machine;
    private final String sha256;
    private final int size;
    private final Duration wait;
    private final Semaphore room;
    private final ConcurrentLinkedDeque<Guest> idle = new ConcurrentLinkedDeque<>();
    private final AtomicLong closings = new AtomicLong();

    /** An engine that compiles, with four instances, for whose turn callers wait as long as it takes. */
    public Engine() {
        this(builder());
    }

    private Engine(Builder builder) {
        byte[] file = builder.file != null ? asserted("the module", builder.file, builder.sha256) : asserted("policy.wasm");
        sha256 = digest(file);
        size = file.length;
        boolean compiled = builder.file == null && builder.mode == Mode.COMPILED;
        // Beside the classes lies the module without its code. To read it takes a twentieth of the time.
        byte[] source = compiled ? asserted("compiled/Module.meta") : file;
        try {
            module = Parser.parse(source);
        } catch (RuntimeException e) {
            throw new ModuleException(new PodfateException.Details("ABI", "the file is no WebAssembly module: " + e.getMessage()), e);
        }
        machine = builder.machine != null ? builder.machine.apply(module)
                : builder.mode == Mode.INTERPRETER ? InterpreterMachine::new : Module::create;
        wait = builder.wait;
        room = new Semaphore(builder.instances, true);
        idle.push(new Guest(module, machine)); // a wrong module is refused here
    }

    /** Begins with what {@link #Engine()} has.
     *
     * @return a builder
     */
    public static Builder builder() {
        return new Builder();
    }

    /** Options of an engine. */
    public static final class Builder {
        private int instances = 4;
        private Duration wait;
        private Mode mode = Mode.COMPILED;
        private byte[] file;
        private String sha256;
        private Function<WasmModule, Function<Instance, Machine>> machine;

        private Builder() {}

        /** How many calls may run at once; a further caller waits. Each instance takes some 5 MiB, at most 16 while it waits and 64 while it runs.
         *
         * @param instances 1 or more
         * @return this
         */
        public Builder instances(int instances) {
            if (instances < 1) {
                throw new IllegalArgumentException("an engine needs at least one instance");
            }
            this.instances = instances;
            return this;
        }

        /** How long a caller waits for an instance before it gets a {@link PodfateException} with code {@code BUSY}.
         *
         * @param wait zero for not at all, null for as long as it takes
         * @return this
         */
        public Builder maxWait(Duration wait) {
            this.wait = wait;
            return this;
        }

        /** How the module is run.
         *
         * @param mode COMPILED, unless it is said
         * @return this
         */
        public Builder mode(Mode mode) {
            this.mode = Objects.requireNonNull(mode, "mode");
            return this;
        }

        /** Another module than the one in this library. It is interpreted: what is compiled is this library's own.
         *
         * @param file the bytes of a policy.wasm
         * @param sha256 64 lower-case hexadecimal digits; other bytes are refused before they are read
         * @return this
         */
        public Builder module(byte[] file, String sha256) {
            this.file = file.clone();
            this.sha256 = sha256;
            this.mode = Mode.INTERPRETER;
            return this;
        }

        /** Runs the module otherwise; for tests. */
        Builder machine(Function<WasmModule, Function<Instance, Machine>> machine) {
            this.machine = machine;
            return this;
        }

        /** Loads the module.
         *
         * @return an engine
         * @throws ModuleException if the file is not the expected module
         * @throws IllegalArgumentException for a module of the caller's in mode COMPILED
         */
        public Engine build() {
            if (file != null && mode == Mode.COMPILED && machine == null) {
                throw new IllegalArgumentException("another module than this library's can only be interpreted");
            }
            return new Engine(this);
        }
    }

    /** The bytes of a file of this library, which has the digest that the file next to it says. */
    private static byte[] asserted(String name) {
        return asserted(name, resource(name), new String(resource(name + ".sha256"), StandardCharsets.US_ASCII).split("\\s")[0]);
    }

    private static byte[] asserted(String name, byte[] bytes, String expected) {
        String actual = digest(bytes);
        if (!actual.equals(expected)) {
            throw new ModuleException(new PodfateException.Details("DIGEST", name + " has the SHA-256 " + actual + ", not " + expected), null);
        }
        return bytes;
    }

    private static byte[] resource(String name) {
        try (InputStream in = Engine.class.getResourceAsStream(name)) {
            if (in == null) {
                throw new ModuleException(new PodfateException.Details("DIGEST", "the library lacks " + name), null);
            }
            return in.readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static String digest(byte[] bytes) {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
        } catch (NoSuchAlgorithmException e) { // each Java platform has it
            throw new IllegalStateException(e);
        }
    }

    /** SHA-256 of the module.
     *
     * @return 64 lower-case hexadecimal digits
     */
    public String sha256() {
        return sha256;
    }

    /** Lends an instance to one caller. It comes back only if nothing went wrong with it. */
    <T> T with(Function<Guest, T> task) {
        acquire();
        try {
            Guest guest = idle.poll();
            if (guest == null) {
                guest = new Guest(module, machine);
            }
            try {
                return task.apply(guest);
            } finally {
                giveBack(guest);
            }
        } finally {
            room.release();
        }
    }

    private void acquire() {
        try {
            if (wait == null) {
                room.acquire();
            } else if (!room.tryAcquire(TimeUnit.NANOSECONDS.convert(wait), TimeUnit.NANOSECONDS)) {
                throw new PodfateException(new PodfateException.Details("BUSY", "all instances are busy"));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new PodfateException(new PodfateException.Details("INTERRUPTED", "the thread was interrupted while it waited for an instance"), e);
        }
    }

    private void giveBack(Guest guest) {
        long now = closings.get();
        if (guest.closingsSeen != now && guest.reusable()) {
            try {
                guest.handles.entrySet().removeIf(entry -> {
                    if (entry.getKey().closed()) {
                        guest.release(entry.getValue());
                        return true;
                    }
                    return false;
                });
                guest.closingsSeen = now;
            } catch (PodfateException e) {
                return; // the instance is gone; the caller's answer is not
            }
        }
        if (guest.reusable()) {
            idle.push(guest);
        }
    }

    void policyClosed() {
        closings.incrementAndGet();
    }

    /** Memory of the largest instance that waits, in bytes; for tests. */
    int idleBytes() {
        return idle.stream().mapToInt(Guest::memoryBytes).max().orElse(0);
    }

    /** Runs one operation.
     *
     * @param operation which
     * @param request its members
     * @return the module's answer; an error payload is one
     */
    public Answer call(Operation operation, Request request) {
        return call(operation.number, request.bytes());
    }

    /** Runs one operation by number.
     *
     * @param operation its number; one that the module does not know is answered with an error
     * @param request a JSON text in UTF-8
     * @return the module's answer; an error payload is one
     * @throws TrapException if the module failed; the request is not tried again
     * @throws LimitException for a request without room
     */
    public Answer call(int operation, byte[] request) {
        return with(guest -> guest.call(operation, request));
    }

    private Map<String, Object> ask(Operation operation, Request request) {
        return call(operation, request).orThrow(false);
    }

    /** What the module knows: versions, gates, operations, limits, and the file that was loaded.
     *
     * @return the answer of describe
     */
    public Map<String, Object> describe() {
        return ask(Operation.DESCRIBE, Request.empty().with("module", Map.of("sha256", sha256, "bytes", size)));
    }

    /** Would the API server accept the manifest? Faults are the answer, not an exception.
     *
     * @param request with a manifest
     * @return the answer of validate
     */
    public Validation validate(Request request) {
        return Validation.of(ask(Operation.VALIDATE, request));
    }

    /** {@link #validate(Request)} for the newest release of Kubernetes.
     *
     * @param manifest a Pod or a Job, as JSON
     * @return the answer of validate
     */
    public Validation validate(String manifest) {
        return validate(Request.of(manifest));
    }

    /** What happens after each exit, and, for a Job, about each of {@code pods}?
     *
     * @param request with a manifest and exits or pods
     * @return the answer of decide
     */
    public Decisions decide(Request request) {
        return Decisions.of(ask(Operation.DECIDE, request));
    }

    /** {@link #decide(Request)} for the newest release of Kubernetes.
     *
     * @param manifest a Pod or a Job, as JSON
     * @param exits what ended
     * @return the answer of decide
     */
    public Decisions decide(String manifest, Exit... exits) {
        return decide(Request.of(manifest).exits(List.of(exits)));
    }

    /** {@link #decide(Request)} for the newest release of Kubernetes.
     *
     * @param manifest a Pod or a Job, as a reader of YAML gives it
     * @param exits what ended
     * @return the answer of decide
     */
    public Decisions decide(Map<String, ?> manifest, Exit... exits) {
        return decide(Request.of(manifest).exits(Arrays.asList(exits)));
    }

    /** The whole timeline of runs and events.
     *
     * @param request with a manifest, {@code runs}, {@code events}, {@code until}, as its schema names them
     * @return the answer of simulate
     */
    public Map<String, Object> simulate(Request request) {
        return ask(Operation.SIMULATE, request);
    }

    /** When do restarts come, for any back-off setting?
     *
     * @param request members as the schema of curve names them
     * @return the answer of curve
     */
    public Map<String, Object> curve(Request request) {
        return ask(Operation.CURVE, request);
    }

    /** What does another operation answer, in words and figures? A request that it refuses is an answer here.
     *
     * @param of the operation, such as {@code decide}
     * @param request the request of that operation
     * @return its answer, and a document to paint
     */
    public Map<String, Object> explain(String of, Request request) {
        return ask(Operation.EXPLAIN, Request.empty().with("of", of).withJson("request", new String(request.bytes(), java.nio.charset.StandardCharsets.UTF_8)));
    }

    /** What does every exit code lead to, for the container and for its Job?
     *
     * @param request members as the schema of table names them
     * @return the answer of table
     */
    public Map<String, Object> table(Request request) {
        return ask(Operation.TABLE, request);
    }

    /** Two to eight variants of a request: where do their answers differ?
     *
     * @param request members as the schema of compare names them
     * @return the answer of compare
     */
    public Map<String, Object> compare(Request request) {
        return ask(Operation.COMPARE, request);
    }

    /** The smallest edits that change the outcome of an exit, or the shortest policy that does what is wished.
     *
     * @param request members as the schema of suggest names them
     * @return the answer of suggest
     */
    public Map<String, Object> suggest(Request request) {
        return ask(Operation.SUGGEST, request);
    }

    /** The same policy written for a draft, a proposal or a release, and what is lost on the way.
     *
     * @param request members as the schema of translate names them
     * @return the answer of translate
     */
    public Map<String, Object> translate(Request request) {
        return ask(Operation.TRANSLATE, request);
    }

    /** What many Pods on many nodes cost, calculated.
     *
     * @param request members as the schema of fleet names them
     * @return the answer of fleet
     */
    public Map<String, Object> fleet(Request request) {
        return ask(Operation.FLEET, request);
    }

    /** Compiles a manifest once, for many decisions.
     *
     * @param request with a manifest, and a cluster if it is not the newest release
     * @return a policy, to be closed when it is not used any more
     * @throws PolicyException if the manifest has faults
     */
    public Policy compile(Request request) {
        return new Policy(this, request.bytes());
    }

    /** {@link #compile(Request)} for the newest release of Kubernetes.
     *
     * @param manifest a Pod or a Job, as JSON
     * @return a policy, to be closed when it is not used any more
     */
    public Policy compile(String manifest) {
        return compile(Request.of(manifest));
    }
}
