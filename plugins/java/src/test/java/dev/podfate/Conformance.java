package dev.podfate;

import dev.podfate.compiled.Module;
import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import run.endive.runtime.ByteArrayMemory;
import run.endive.runtime.ExportFunction;
import run.endive.runtime.Instance;
import run.endive.runtime.InterpreterMachine;
import run.endive.runtime.Machine;
import run.endive.wasm.Parser;
import run.endive.wasm.WasmModule;

/**
 * {@code Conformance compiled|interpreter VECTORS MODULE [-evaluations N]}
 *
 * <p>Plays conformance vectors on the exports of the module and prints one line: engine, version, the module's SHA-256, the number of vectors
 * and mismatches, and a digest over all answers. The format is in plugins/README.md. Status 1 if an answer differs, or if there is no vector.
 */
public final class Conformance {
    private final WasmModule module;
    private final Function<Instance, Machine> machine;
    private Instance instance;
    private Map<String, ExportFunction> exports;
    private List<Integer> buffers;

    private Conformance(byte[] file, Function<Instance, Machine> machine) {
        this.module = Parser.parse(file);
        this.machine = machine;
    }

    /** A call ended in a trap. */
    private static final class Trap extends Exception {
        private static final long serialVersionUID = 1;
    }

    public static void main(String[] arguments) throws Exception {
        boolean compiled = arguments[0].equals("compiled");
        byte[] file = Files.readAllBytes(Path.of(arguments[2]));
        String digest = Engine.digest(file);
        if (compiled && !digest.equals(new Engine().sha256())) {
            throw new IllegalArgumentException("the compiled classes are not of this module");
        }
        Conformance player = new Conformance(file, compiled ? Module::create : InterpreterMachine::new);
        MessageDigest fold = MessageDigest.getInstance("SHA-256");
        int count = 0;
        int mismatches = 0;
        try (BufferedReader vectors = Files.newBufferedReader(Path.of(arguments[1]))) {
            for (String text = vectors.readLine(); text != null; text = vectors.readLine()) {
                Map<String, Object> line = Json.object(text);
                byte[] answer = player.answer(line);
                count++;
                boolean hashed = line.containsKey("d");
                String got = hashed ? Engine.digest(answer) : new String(answer, StandardCharsets.UTF_8);
                if (!got.equals(hashed ? line.get("d") : Values.text(line, "a"))) {
                    mismatches++;
                    System.err.println(line.get("id") + ": got " + new String(answer, 0, Math.min(answer.length, 500), StandardCharsets.UTF_8));
                }
                fold.update((line.get("id") + "\n").getBytes(StandardCharsets.UTF_8));
                fold.update(answer);
                fold.update((byte) '\n');
            }
        }
        System.out.println("engine=endive-" + arguments[0] + " version=" + version() + " module=" + digest + " count=" + count
                + " mismatches=" + mismatches + " digest=" + HexFormat.of().formatHex(fold.digest()));
        if (arguments.length > 4) {
            player.evaluate(Integer.parseInt(arguments[4]));
        }
        System.exit(mismatches > 0 || count == 0 ? 1 : 0);
    }

    /** The release of Endive, from the name of its jar: it says it nowhere else. */
    private static String version() {
        String jar = Path.of(Instance.class.getProtectionDomain().getCodeSource().getLocation().getPath()).getFileName().toString();
        return jar.replaceAll("^[a-z-]+|\\.jar$", "");
    }

    private byte[] answer(Map<String, Object> line) {
        try {
            if (line.get("do").equals("new")) {
                fresh();
                return Long.toString((int) run("pf_abi_version")).getBytes(StandardCharsets.UTF_8);
            }
            byte[] data = request(line);
            byte[] answer = {};
            for (long times = Values.number(line, "times", 1); times > 0; times--) {
                answer = play(line, data);
            }
            return answer;
        } catch (Trap e) {
            fresh();
            return "trap".getBytes(StandardCharsets.UTF_8);
        }
    }

    private void fresh() {
        instance = Instance.builder(module).withMachineFactory(machine).withMemoryFactory(ByteArrayMemory::new).build();
        exports = new HashMap<>();
        buffers = new ArrayList<>();
        instance.export("_initialize").apply();
    }

    private long run(String export, long... arguments) throws Trap {
        try {
            return exports.computeIfAbsent(export, instance::export).apply(arguments)[0];
        } catch (RuntimeException | StackOverflowError e) {
            throw new Trap();
        }
    }

    /** The bytes that a line brings, or null. */
    private static byte[] request(Map<String, Object> line) {
        if (line.get("s") instanceof String text) {
            return text.getBytes(StandardCharsets.UTF_8);
        }
        if (line.get("b") instanceof String text) {
            return Base64.getDecoder().decode(text);
        }
        boolean encoded = line.containsKey("rb");
        if (!encoded && !line.containsKey("r")) {
            return null;
        }
        List<Object> parts = Values.list(line.get(encoded ? "rb" : "r"));
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        for (int i = 0; i < parts.size(); i += 2) {
            String text = (String) parts.get(i);
            byte[] bytes = encoded ? Base64.getDecoder().decode(text) : text.getBytes(StandardCharsets.UTF_8);
            for (long times = (Long) parts.get(i + 1); times > 0; times--) {
                out.writeBytes(bytes);
            }
        }
        return out.toByteArray();
    }

    private long[] arguments(Map<String, Object> line) {
        return Values.list(line.get("x")).stream().mapToLong(x -> {
            if (x instanceof String place) {
                int plus = place.indexOf('+');
                return buffers.get(Integer.parseInt(place.substring(0, plus))) + Integer.parseInt(place.substring(plus + 1));
            }
            return ((Long) x).intValue();
        }).toArray();
    }

    /** Makes the call of a line once and returns its answer. */
    private byte[] play(Map<String, Object> line, byte[] data) throws Trap {
        String export = (String) line.get("do");
        long[] arguments = arguments(line);
        if (export.equals("write")) {
            instance.memory().write((int) arguments[0], data);
            return new byte[0];
        }
        boolean batch = export.equals("pf_eval_batch") && data != null;
        int room = (int) Values.number(line, "out", 0);
        int source = 0;
        int target = 0;
        if (data != null) {
            source = (int) run("pf_alloc", Math.max(data.length, 1));
            instance.memory().write(source, data);
            arguments = plus(arguments, source, data.length);
            if (batch) {
                target = (int) run("pf_alloc", Math.max(room, 1));
                arguments = plus(arguments, target, room);
            }
        }
        long result = run(export, arguments);
        byte[] answer;
        if (export.equals("pf_call") || export.equals("pf_compile") || export.equals("pf_eval")) {
            answer = instance.memory().readBytes((int) (result >>> 32), (int) (result & 0x7FFFFFFF));
            boolean error = new String(answer, 0, Math.min(answer.length, 9), StandardCharsets.ISO_8859_1).equals("{\"error\":");
            if ((result >>> 31 & 1) == 1 != error) {
                answer = ("flag " + new String(answer, StandardCharsets.UTF_8)).getBytes(StandardCharsets.UTF_8);
            }
        } else if (export.equals("pf_alloc")) {
            answer = allocated((int) result, (int) arguments[0]).getBytes(StandardCharsets.UTF_8);
        } else {
            String text = Integer.toString((int) result);
            if (batch && (int) result >= 0) {
                text += " " + HexFormat.of().formatHex(instance.memory().readBytes(target, room));
            }
            answer = text.getBytes(StandardCharsets.UTF_8);
        }
        if (data != null) {
            run("pf_free", source);
        }
        if (batch) {
            run("pf_free", target);
        }
        return answer;
    }

    private String allocated(int address, int size) {
        if (address == 0) {
            return "0";
        }
        buffers.add(address);
        boolean zeroed = Arrays.equals(instance.memory().readBytes(address, size), new byte[size]);
        return address % 8 == 0 && zeroed ? "ok" : "not 8-aligned, or not zeroed";
    }

    private static long[] plus(long[] arguments, long... more) {
        long[] all = Arrays.copyOf(arguments, arguments.length + more.length);
        System.arraycopy(more, 0, all, arguments.length, more.length);
        return all;
    }

    private void evaluate(int times) throws Trap {
        fresh();
        byte[] manifest = ("{\"manifest\":{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\"},"
                + "\"spec\":{\"containers\":[{\"name\":\"main\",\"image\":\"i\"}]}}}").getBytes(StandardCharsets.UTF_8);
        byte[] event = "{\"container\":\"main\",\"exitCode\":42,\"reason\":\"\\u0045rror\"}".getBytes(StandardCharsets.UTF_8);
        int source = (int) run("pf_alloc", manifest.length);
        instance.memory().write(source, manifest);
        long word = run("pf_compile", source, manifest.length);
        byte[] compiled = instance.memory().readBytes((int) (word >>> 32), (int) (word & 0x7FFFFFFF));
        long handle = (Long) Json.object(new String(compiled, StandardCharsets.UTF_8)).get("handle");
        int pointer = (int) run("pf_alloc", event.length);
        instance.memory().write(pointer, event);
        for (int i = 0; i < times; i++) {
            run("pf_eval", handle, pointer, event.length);
        }
        System.out.println("evaluations=" + times + " memory=" + instance.memory().pages() * 65536L);
    }
}
