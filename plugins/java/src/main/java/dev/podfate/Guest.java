package dev.podfate;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import run.endive.runtime.ByteArrayMemory;
import run.endive.runtime.ExportFunction;
import run.endive.runtime.Instance;
import run.endive.runtime.Machine;
import run.endive.runtime.Memory;
import run.endive.runtime.WasmInterruptedException;
import run.endive.wasm.WasmModule;
import run.endive.wasm.types.FunctionType;
import run.endive.wasm.types.ValType;

/** One instance of the module: raw calls, bounds, and what becomes of a trap. One caller at a time: {@link Engine} sees to that. */
final class Guest {
    private static final int ABI_MAJOR = 1;

    /** Memory never shrinks: an instance beyond this is replaced after its call. */
    private static final int MAX_IDLE_BYTES = 16 << 20;

    /** The longest answer of the ABI. A longer one is a wrong pointer, not an answer. */
    private static final int MAX_ANSWER_BYTES = 4 << 20;

    private static final int MIN_BUFFER_BYTES = 4096;

    /** Handles of policies that were compiled here. They are gone with the instance. */
    final Map<Policy.Source, Integer> handles = new HashMap<>();

    /** How many policies had been closed when the handles of closed ones were last released. */
    long closingsSeen;

    private final Instance instance;
    private final Memory memory;
    private final ExportFunction alloc;
    private final ExportFunction free;
    private final ExportFunction call;
    private final ExportFunction compile;
    private final ExportFunction release;
    private final ExportFunction eval;
    private final ExportFunction evalBatch;
    private final Buffer request = new Buffer();
    private final Buffer events = new Buffer();
    private final Buffer verdicts = new Buffer();
    private boolean gone;

    /** A buffer of the module that is kept, and grown, for one purpose. */
    private static final class Buffer {
        int address;
        int bytes;
    }

    /** @throws ModuleException if the module is not one of this ABI */
    Guest(WasmModule module, Function<Instance, Machine> machine) {
        try {
            instance = Instance.builder(module).withMachineFactory(machine).withMemoryFactory(ByteArrayMemory::new).build();
            memory = instance.exports().memory("memory");
        } catch (RuntimeException e) {
            throw new ModuleException(new PodfateException.Details("ABI", "the module cannot be started without imports: " + e.getMessage()), e);
        }
        ExportFunction initialize = export("_initialize", 0, null);
        ExportFunction version = export("pf_abi_version", 0, ValType.I32);
        alloc = export("pf_alloc", 1, ValType.I32);
        free = export("pf_free", 1, ValType.I32);
        call = export("pf_call", 3, ValType.I64);
        compile = export("pf_compile", 2, ValType.I64);
        release = export("pf_release", 1, ValType.I32);
        eval = export("pf_eval", 3, ValType.I64);
        evalBatch = export("pf_eval_batch", 5, ValType.I32);
        try {
            initialize.apply();
        } catch (RuntimeException | StackOverflowError | OutOfMemoryError e) {
            throw new ModuleException(new PodfateException.Details("ABI", "the module does not start: " + e), e);
        }
        int abi = (int) run("pf_abi_version", version);
        if (abi >>> 16 != ABI_MAJOR) {
            throw new ModuleException(new PodfateException.Details("ABI",
                    "the module has ABI " + (abi >>> 16) + "." + (abi & 0xFFFF) + ", this library needs " + ABI_MAJOR), null);
        }
    }

    private ExportFunction export(String name, int parameters, ValType result) {
        FunctionType expected = FunctionType.of(Collections.nCopies(parameters, ValType.I32), result == null ? List.of() : List.of(result));
        try {
            if (instance.exportType(name).equals(expected)) {
                return instance.export(name);
            }
        } catch (RuntimeException e) {
            throw new ModuleException(new PodfateException.Details("ABI", "the module does not export " + name), e);
        }
        throw new ModuleException(new PodfateException.Details("ABI", name + " of the module has another signature"), null);
    }

    /** Whether the instance may serve another caller. */
    boolean reusable() {
        return !gone && memoryBytes() <= MAX_IDLE_BYTES;
    }

    int memoryBytes() {
        return memory.pages() * Memory.PAGE_SIZE;
    }

    Answer call(int operation, byte[] bytes) {
        int pointer = put(bytes);
        return answer(run("pf_call", call, operation, pointer, bytes.length));
    }

    Answer compile(byte[] bytes) {
        int pointer = put(bytes);
        return answer(run("pf_compile", compile, pointer, bytes.length));
    }

    Answer eval(int handle, byte[] bytes) {
        int pointer = put(bytes);
        return answer(run("pf_eval", eval, handle, pointer, bytes.length));
    }

    void release(int handle) {
        run("pf_release", release, handle);
    }

    /** Answers the records of array from offset on, and copies the verdicts to out. */
    void batch(int handle, byte[] header, byte[] array, int offset, int count, ByteBuffer out) {
        int size = header.length + count * Event.BYTES;
        int room = Verdict.HEADER_BYTES + count * Verdict.BYTES;
        int source = reserve(events, size);
        memory.write(source, header, 0, header.length);
        memory.write(source + header.length, array, offset, count * Event.BYTES);
        int target = reserve(verdicts, room);
        int answered = (int) run("pf_eval_batch", evalBatch, handle, source, size, target, room);
        if (answered < 0) {
            gone = answered == -9; // INTERNAL: a broken invariant
            throw PodfateException.of(-answered, "a batch of " + count + " events");
        }
        byte[] answer = memory.readBytes(target, room);
        if (!Verdict.isHeader(answer, count)) {
            throw malformed("not the answer to this batch");
        }
        out.put(answer, Verdict.HEADER_BYTES, count * Verdict.BYTES);
    }

    private int put(byte[] bytes) {
        int pointer = reserve(request, bytes.length);
        memory.write(pointer, bytes, 0, bytes.length);
        return pointer;
    }

    /** Makes a buffer at least size bytes large and returns its address. */
    private int reserve(Buffer buffer, int size) {
        if (buffer.address != 0 && size <= buffer.bytes) {
            return buffer.address;
        }
        if (buffer.address != 0) {
            int address = buffer.address;
            buffer.address = 0;
            if ((int) run("pf_free", free, address) != 0) {
                throw malformed("pf_free refused a live buffer");
            }
        }
        int wanted = Math.max(size, Math.max(2 * buffer.bytes, MIN_BUFFER_BYTES));
        int address = (int) run("pf_alloc", alloc, wanted);
        if (address == 0 && wanted > size) { // twice as much may be too much
            wanted = size;
            address = (int) run("pf_alloc", alloc, wanted);
        }
        if (address == 0) {
            buffer.bytes = 0;
            throw new LimitException(new PodfateException.Details("LIMIT_EXCEEDED", 6, "the module has no buffer of " + size + " bytes",
                    "", -1, "bufferBytes", List.of()));
        }
        if (address < 0 || (long) address + wanted > memoryBytes()) {
            throw malformed("a buffer lies outside the module's memory");
        }
        buffer.address = address;
        buffer.bytes = wanted;
        return address;
    }

    private long run(String name, ExportFunction function, long... arguments) {
        try {
            long[] results = function.apply(arguments);
            return results[0];
        } catch (WasmInterruptedException e) {
            gone = true;
            Thread.currentThread().interrupt();
            throw new PodfateException(new PodfateException.Details("INTERRUPTED", "the thread was interrupted in " + name), e);
        } catch (RuntimeException | StackOverflowError | OutOfMemoryError e) {
            gone = true;
            throw new TrapException(new PodfateException.Details("TRAP", "the module ended " + name + ": " + reason(e)), e);
        }
    }

    /** What the runtime of the module printed before the trap, else the engine's own words. */
    private String reason(Throwable cause) {
        try {
            long start = instance.exports().global("pf_diag").getValue() & 0xFFFFFFFFL;
            long length = instance.exports().global("pf_diag_len").getValue() & 0xFFFFFFFFL;
            if (length > 0 && start + length <= memoryBytes()) {
                String printed = new String(memory.readBytes((int) start, (int) Math.min(length, 200)), StandardCharsets.UTF_8);
                return printed.lines().findFirst().orElse("");
            }
        } catch (RuntimeException e) {
            // A module without diagnostics is only less talkative.
        }
        return String.valueOf(cause.getMessage());
    }

    private TrapException malformed(String message) {
        gone = true;
        return new TrapException(new PodfateException.Details("MALFORMED", message), null);
    }

    /** What a result word points to, if it has the shape of an answer. */
    private Answer answer(long word) {
        long start = word >>> 32;
        int length = (int) (word & 0x7FFFFFFF);
        if (length == 0 || length > MAX_ANSWER_BYTES || start + length > memoryBytes()) {
            throw malformed("an answer of " + length + " bytes at " + start);
        }
        byte[] bytes = memory.readBytes((int) start, length);
        String text = new String(bytes, StandardCharsets.UTF_8);
        // A decoder replaces what is not UTF-8; encoded again, such a text has other bytes.
        if (text.indexOf('\uFFFD') >= 0 && !Arrays.equals(text.getBytes(StandardCharsets.UTF_8), bytes)) {
            throw malformed("the answer is not UTF-8");
        }
        boolean failed = (word >>> 31 & 1) == 1;
        if (!text.startsWith("{") || !text.endsWith("}") || failed != text.startsWith("{\"error\":{\"code\":\"")) {
            throw malformed("the answer is not an answer");
        }
        if (failed && text.startsWith("{\"error\":{\"code\":\"INTERNAL\"")) { // a broken invariant: not to be trusted any more
            gone = true;
            throw PodfateException.of(Values.map(Values.map(Json.object(text)).get("error")), false);
        }
        return new Answer(text, failed);
    }
}
