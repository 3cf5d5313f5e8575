package dev.podfate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Function;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import run.endive.compiler.InterpreterFallback;
import run.endive.compiler.MachineFactoryCompiler;

/** The library as a user has it: the real module on the real engine. */
class PodfateTest {
    private static final String POD = """
            {"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"restartPolicy":"Never","containers":[
            {"name":"main","image":"i","restartPolicy":"Never","restartPolicyRules":[
            {"action":"Restart","exitCodes":{"operator":"In","values":[42]}}]}]}}""";

    private static final String JOB = """
            {"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"j"},"spec":{"podFailurePolicy":{"rules":[
            {"action":"Ignore","onPodConditions":[{"type":"DisruptionTarget"}]},
            {"action":"FailJob","onExitCodes":{"operator":"In","values":[3]}}]},
            "template":{"spec":{"restartPolicy":"Never","containers":[{"name":"a","image":"i"},{"name":"b","image":"i"}]}}}}""";

    private static final Map<Engine.Mode, Engine> ENGINES = new HashMap<>();

    private static synchronized Engine engine(Engine.Mode mode) {
        return ENGINES.computeIfAbsent(mode, m -> Engine.builder().mode(m).build());
    }

    private static Engine engine() {
        return engine(Engine.Mode.COMPILED);
    }

    private static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static byte[] file() throws IOException {
        try (var in = Engine.class.getResourceAsStream("policy.wasm")) {
            return in.readAllBytes();
        }
    }

    @ParameterizedTest
    @EnumSource
    void aRuleDecides(Engine.Mode mode) {
        Decision decision = engine(mode).decide(POD, new Exit("main", 42)).decisions().get(0);
        assertEquals(Action.RESTART, decision.action());
        assertEquals(new DecidedBy("rule", "spec.containers[0].restartPolicyRules[0]", 0), decision.decidedBy());
        assertEquals("rule_matched", decision.because());
        assertEquals(List.of(Action.STOP), engine(mode).decide(POD, new Exit("main", 1)).actions());
    }

    @ParameterizedTest
    @EnumSource
    void aPolicyAnswersLikeDecide(Engine.Mode mode) {
        try (Policy policy = engine(mode).compile(POD)) {
            assertEquals(List.of("main"), policy.containers());
            assertEquals(Action.RESTART, policy.decide(new Exit("main", 42)).action());
            assertEquals(0, policy.decide(new Exit("main", 42)).decidedBy().rule());
            assertEquals(Action.STOP, policy.decide(new Exit("main", 1)).action());
            assertEquals(40_000, policy.decide(new Exit("main", 42).after(3, 1000)).delayMillis());
            assertEquals("exits[0].container", assertThrows(EventException.class, () -> engine(mode).decide(POD, new Exit("nobody", 1))).path());
            assertThrows(EventException.class, () -> policy.decide(new Exit("nobody", 1)));
        }
    }

    @Test
    void aManifestMayComeFromAReaderOfYaml() throws Json.Malformed {
        @SuppressWarnings("unchecked")
        Map<String, Object> pod = (Map<String, Object>) Json.parse(POD);
        assertEquals(List.of(Action.RESTART), engine().decide(pod, new Exit("main", 42)).actions());
        assertEquals(engine().call(Operation.VALIDATE, Request.of(POD)), engine().call(Operation.VALIDATE, Request.of(pod)));
        Map<Object, Object> cycle = new HashMap<>();
        cycle.put("self", cycle);
        assertThrows(IllegalArgumentException.class, () -> Request.empty().with("manifest", cycle).bytes());
    }

    @Test
    void anOlderReleaseHasNoRules() {
        Request request = Request.of(POD).exits(List.of(new Exit("main", 42)));
        Map<String, Object> gates = Map.of("ContainerRestartRules", false, "RestartAllContainersOnContainerExits", false);
        assertEquals(List.of(Action.STOP), engine().decide(request.with("cluster", Map.of("version", "1.36", "featureGates", gates))).actions());
        var refused = assertThrows(PolicyException.class, () -> engine().decide(request.cluster("1.33").with("fieldValidation", "Ignore")));
        assertEquals("Forbidden", refused.faults().get(0).type());
    }

    @Test
    void faultsOfAManifestAreTheAnswerOfValidate() {
        String wrong = POD.replace("{\"restartPolicy\":\"Never\"", "{\"restartPolicy\":\"Sometimes\"");
        Validation answer = engine().validate(wrong);
        assertFalse(answer.valid());
        assertEquals("spec.restartPolicy", answer.faults().get(0).path());
        assertTrue(answer.faults().get(0).line() > 0);
        PolicyException refused = assertThrows(PolicyException.class, () -> engine().decide(wrong, new Exit("main", 1)));
        assertEquals("MANIFEST_INVALID", refused.code());
        assertEquals(3, refused.num());
        assertEquals(answer.faults().get(0).path(), refused.faults().get(0).path());
        assertThrows(PolicyException.class, () -> engine().compile(wrong));
    }

    @Test
    void podsAreJudged() {
        Map<String, Object> terminated = Map.of("name", "a", "state", Map.of("terminated", Map.of("exitCode", 3)));
        Map<String, Object> pod = Map.of("metadata", Map.of("name", "j-1"), "status", Map.of("phase", "Failed", "containerStatuses", List.of(terminated)));
        PodDecision judged = engine().decide(Request.of(JOB).with("pods", List.of(pod))).podDecisions().get(0);
        assertEquals(Action.FAIL_JOB, judged.action());
        assertEquals(1, judged.rule());
        assertFalse(judged.message().isEmpty());
    }

    @Test
    void timelinesAndCurvesAreAnswers() {
        Map<String, Object> timeline = engine().simulate(Request.of(POD).with("runs", Map.of("main", List.of(Map.of("for", "10s", "exitCode", 42)))).with("until", "10m"));
        assertTrue(timeline.containsKey("cluster"), timeline.toString());
        assertFalse(engine().curve(Request.empty()).isEmpty());
        assertEquals("podfate", engine().describe().get("product"));
    }

    @ParameterizedTest
    @EnumSource
    void badRequestsHaveErrorPayloads(Engine.Mode mode) {
        byte[] bomb = new byte[100_000];
        Arrays.fill(bomb, (byte) '[');
        byte[] latin = {'{', '"', 'a', '"', ':', '"', (byte) 0xFF, '"', '}'};
        Map<String, byte[]> requests = new LinkedHashMap<>();
        requests.put("BAD_JSON", utf8("{"));
        requests.put("BAD_UTF8", latin);
        requests.put("LIMIT_EXCEEDED", bomb);
        requests.forEach((code, request) -> {
            Answer answer = engine(mode).call(3, request);
            assertTrue(answer.failed());
            assertEquals(code, Values.map(answer.json().get("error")).get("code"));
        });
        assertTrue(engine(mode).call(3, new byte[0]).failed());
        assertEquals("UNSUPPORTED_OP", Values.map(engine(mode).call(999, utf8("{}")).json().get("error")).get("code"));
        try (Policy policy = engine(mode).compile(POD)) {
            assertTrue(policy.eval(utf8("[")).failed());
            assertThrows(EventException.class, () -> policy.eval(latin).orThrow(true));
        }
    }

    @ParameterizedTest
    @EnumSource
    void bombsAreErrorSixEverywhere(Engine.Mode mode) {
        try (Policy policy = engine(mode).compile(POD)) {
            for (byte[] bomb : List.of(utf8("[".repeat(500_000)), utf8("{\"a\":".repeat(200_000)), utf8("[".repeat(65) + "]".repeat(65)))) {
                for (int operation = 2; operation <= 5; operation++) {
                    assertEquals(6L, Values.map(engine(mode).call(operation, bomb).json().get("error")).get("num"));
                }
                assertThrows(LimitException.class, () -> policy.eval(bomb).orThrow(true));
            }
            assertThrows(LimitException.class, () -> engine(mode).compile(POD.replace("\"name\":\"p\"", "\"a\":" + "[".repeat(70) + "]".repeat(70))));
            Map<String, Integer> bad = Map.of("[", 1, "", 1, "[]", 4, "null", 4);
            bad.forEach((event, num) -> assertEquals(num, assertThrows(EventException.class, () -> policy.eval(utf8(event)).orThrow(true)).num()));
            assertEquals(Action.RESTART, policy.decide(new Exit("main", 42)).action());
        }
    }

    @Test
    void aRequestBeyondALimitIsRefused() {
        byte[] large = new byte[(1 << 20) + 1];
        Arrays.fill(large, (byte) ' ');
        Answer answer = engine().call(3, large);
        assertEquals(6L, Values.map(answer.json().get("error")).get("num"));
        LimitException refused = assertThrows(LimitException.class, () -> engine().call(3, new byte[17 << 20]));
        assertEquals("bufferBytes", refused.limit());
        String deep = "[".repeat(100) + "]".repeat(100);
        assertThrows(LimitException.class, () -> engine().validate(deep));
        assertThrows(LimitException.class, () -> engine().validate("[".repeat(100_000)));
        assertEquals("podfate", engine().describe().get("product"));
    }

    @Test
    void aRequestSaysNoMoreThanItsMembers() {
        assertThrows(PolicyException.class, () -> Request.of("{},\"cluster\":{}"));
        assertThrows(PolicyException.class, () -> Request.of("{"));
        assertThrows(PolicyException.class, () -> Request.of(""));
        assertThrows(IllegalArgumentException.class, () -> Request.empty().with("a", Double.NaN).bytes());
        assertThrows(IllegalArgumentException.class, () -> Request.empty().with("a", "\ud800").bytes());
        assertThrows(IllegalArgumentException.class, () -> Request.empty().with("a", new Object()).bytes());
    }

    @Test
    void aFlippedByteIsRefused() throws IOException {
        byte[] file = file();
        String digest = engine().sha256();
        assertEquals(digest, Engine.digest(file));
        file[file.length / 2] ^= 1;
        assertEquals("DIGEST", assertThrows(ModuleException.class, () -> Engine.builder().module(file, digest).build()).code());
        assertThrows(ModuleException.class, () -> Engine.builder().module(file, null).build());
    }

    @ParameterizedTest
    @ValueSource(strings = {"policy.wasm", "compiled/Module.meta"})
    void aLibraryWithAFlippedByteRefusesItself(String name, @TempDir Path folder) throws Exception {
        Path classes = Path.of(Engine.class.getProtectionDomain().getCodeSource().getLocation().toURI());
        try (var files = Files.walk(classes)) {
            for (Path file : files.toList()) {
                Path copy = folder.resolve(classes.relativize(file).toString());
                if (Files.isDirectory(file)) {
                    Files.createDirectories(copy);
                } else {
                    Files.copy(file, copy);
                }
            }
        }
        Path flipped = folder.resolve("dev/podfate/" + name);
        byte[] bytes = Files.readAllBytes(flipped);
        bytes[bytes.length / 2] ^= 1;
        Files.write(flipped, bytes);
        URL[] path = Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator)).map(Path::of)
                .map(p -> p.equals(classes) ? folder : p).map(PodfateTest::url).toArray(URL[]::new);
        try (URLClassLoader loader = new URLClassLoader(path, ClassLoader.getPlatformClassLoader())) {
            Class<?> engine = loader.loadClass(Engine.class.getName());
            var thrown = assertThrows(InvocationTargetException.class, () -> engine.getConstructor().newInstance()).getCause();
            assertEquals(ModuleException.class.getName(), thrown.getClass().getName());
            assertTrue(thrown.getMessage().startsWith("DIGEST: " + name), thrown.getMessage());
        }
    }

    private static URL url(Path path) {
        try {
            return path.toUri().toURL();
        } catch (MalformedURLException e) {
            throw new IllegalArgumentException(e);
        }
    }

    @Test
    void aModuleOfAnotherKindIsRefused() {
        for (byte[] other : List.of(new byte[] {0, 'a', 's', 'm', 1, 0, 0, 0}, utf8("no module"))) {
            var refused = assertThrows(ModuleException.class, () -> Engine.builder().module(other, Engine.digest(other)).build());
            assertEquals("ABI", refused.code());
        }
        assertThrows(IllegalArgumentException.class, () -> Engine.builder().module(file(), engine().sha256()).mode(Engine.Mode.COMPILED).build());
        assertThrows(IllegalArgumentException.class, () -> Engine.builder().instances(0));
    }

    @Test
    void theSameModuleMayComeFromOutside() throws IOException {
        Engine outside = Engine.builder().module(file(), engine().sha256()).build();
        assertEquals(engine().call(Operation.DECIDE, Request.of(POD).exits(List.of(new Exit("main", 42)))),
                outside.call(Operation.DECIDE, Request.of(POD).exits(List.of(new Exit("main", 42)))));
    }

    @Test
    void threadsGetTheirOwnAnswers() throws Exception {
        Engine engine = Engine.builder().instances(3).build();
        Policy shared = engine.compile(POD);
        ExecutorService threads = Executors.newFixedThreadPool(8);
        List<Callable<Boolean>> tasks = new ArrayList<>();
        for (int code : new int[] {1, 2, 3, 41, 42, 42, 43, 137}) {
            Action expected = code == 42 ? Action.RESTART : Action.STOP;
            tasks.add(() -> {
                for (int n = 0; n < 25; n++) {
                    Decision one = engine.decide(POD, new Exit("main", code)).decisions().get(0);
                    Verdict other = shared.batch(List.of(new Event(code))).get(0);
                    if (one.exitCode() != code || one.action() != expected || shared.decide(new Exit("main", code)).action() != expected
                            || other.action() != expected) {
                        return false;
                    }
                }
                return true;
            });
        }
        for (Future<Boolean> right : threads.invokeAll(tasks)) {
            assertTrue(right.get());
        }
        threads.shutdown();
    }

    @Test
    void aBusyEngineSaysSo() {
        Engine engine = Engine.builder().instances(1).maxWait(Duration.ZERO).build();
        String code = engine.with(guest -> assertThrows(PodfateException.class, engine::describe).code());
        assertEquals("BUSY", code);
        assertEquals("podfate", engine.describe().get("product"));
        assertEquals("podfate", Engine.builder().maxWait(Duration.ofSeconds(Long.MAX_VALUE)).build().describe().get("product"));
    }

    @Test
    void aClosedPolicyIsNoPolicy() {
        Policy policy = engine().compile(POD);
        policy.close();
        policy.close();
        var refused = assertThrows(PodfateException.class, () -> policy.decide(new Exit("main", 42)));
        assertEquals("UNKNOWN_HANDLE", refused.code());
        assertThrows(PodfateException.class, () -> policy.batch(List.of(new Event(42))));
        assertThrows(PodfateException.class, () -> policy.batch(List.of()));
    }

    @ParameterizedTest
    @EnumSource
    void aBatchIsTheSameAsItsEvents(Engine.Mode mode) {
        try (Policy policy = engine(mode).compile(POD)) {
            int[] codes = {0, 1, 41, 42, 43, 137, 255, 256, -1, Integer.MAX_VALUE, Integer.MIN_VALUE};
            List<Event> events = new ArrayList<>();
            for (int code : codes) {
                events.add(new Event(code, 0, Event.HISTORY, 3, code * 7, 1000, 0));
            }
            List<Verdict> verdicts = policy.batch(events);
            ByteBuffer direct = ByteBuffer.allocateDirect(8 + codes.length * Event.BYTES).order(ByteOrder.LITTLE_ENDIAN).position(8);
            events.forEach(event -> event.write(direct));
            ByteBuffer bytes = policy.batch(direct.position(8));
            assertEquals(8, direct.position());
            for (int i = 0; i < codes.length; i++) {
                Verdict verdict = verdicts.get(i);
                Decision one = policy.decide(new Exit("main", codes[i]).after(3, 1000));
                assertEquals(one.action(), verdict.action());
                assertEquals(one.because(), verdict.reason());
                assertEquals(one.decidedBy().level(), verdict.level());
                assertEquals(one.decidedBy().rule(), verdict.rule());
                assertEquals(one.delayMillis(), verdict.waitMillis());
                assertEquals(one.podFails(), (verdict.flags() & Verdict.POD_FAILS) != 0);
                assertEquals(codes[i] * 7, verdict.tag());
                assertEquals(verdict, Verdict.read(bytes));
            }
            assertFalse(bytes.hasRemaining());
            List<Verdict> bad = policy.batch(List.of(new Event(1, 7), new Event(42)));
            assertEquals(List.of(4, 0), bad.stream().map(Verdict::status).toList());
            assertEquals(Action.RESTART, bad.get(1).action());
            assertEquals(List.of(), policy.batch(List.of()));
            ByteBuffer odd = ByteBuffer.allocate(33).order(ByteOrder.LITTLE_ENDIAN);
            assertThrows(IllegalArgumentException.class, () -> policy.batch(odd));
            // R-V1: a new buffer is big-endian, and so is a duplicate of a little-endian one: its numbers may be meant otherwise.
            for (ByteBuffer big : List.of(ByteBuffer.allocate(Event.BYTES).putInt(0, 42), ByteBuffer.allocateDirect(Event.BYTES), Event.pack(events).duplicate())) {
                for (Function<ByteBuffer, ByteBuffer> ask : List.<Function<ByteBuffer, ByteBuffer>>of(policy::batch, policy::batchPods)) {
                    IllegalArgumentException refused = assertThrows(IllegalArgumentException.class, () -> ask.apply(big));
                    assertTrue(refused.getMessage().contains("LITTLE_ENDIAN"), refused.getMessage());
                }
            }
            assertThrows(IllegalArgumentException.class, () -> new Event(1, -1));
            assertThrows(IllegalArgumentException.class, () -> new Event(1).write(ByteBuffer.allocate(Event.BYTES)));
            assertThrows(IllegalArgumentException.class, () -> Verdict.read(bytes.flip().slice()));
            assertThrows(EventException.class, () -> policy.decide(new Exit("main", 42).after(-5, 1000)));
            assertThrows(EventException.class, () -> policy.decide(new Exit("main", 42).after(5, Long.MIN_VALUE)));
        }
    }

    @Test
    void aBatchOfPodsKeepsEachPodWhole() {
        try (Policy policy = engine().compile(JOB)) {
            assertEquals(List.of(new Policy.Condition("DisruptionTarget", "True")), policy.conditions());
            Event first = new Event(0, 0, Event.MORE, 0, 0, 0, 0);
            Event evicted = new Event(137, 0, Event.MORE, 0, 0, 0, 1);
            List<Event> four = List.of(first, new Event(3, 1), evicted, new Event(3, 1));
            List<Event> many = new ArrayList<>(List.of(new Event(1, 0)));
            for (int i = 0; i < 20_000; i++) { // more than one call takes, and its last record is in the middle of a Pod
                many.addAll(four);
            }
            List<Verdict> verdicts = policy.batchPods(many);
            assertEquals(many.size(), verdicts.size());
            assertEquals(List.of(Action.NONE, Action.FAIL_JOB, Action.NONE, Action.IGNORE), verdicts.subList(1, 5).stream().map(Verdict::action).toList());
            for (int i = 1; i < verdicts.size(); i++) {
                assertEquals(verdicts.get(1 + (i - 1) % 4), verdicts.get(i));
            }
            List<Verdict> endless = policy.batchPods(Collections.nCopies(10, evicted));
            assertEquals(4, endless.get(9).status());
            assertThrows(LimitException.class, () -> policy.batchPods(Collections.nCopies(70_000, evicted)));
        }
    }

    @Test
    void policiesAreReleased() {
        Engine engine = Engine.builder().instances(1).build();
        for (int i = 0; i < 200; i++) {
            engine.compile(POD).close();
        }
        int left = engine.with(guest -> guest.handles.size());
        assertEquals(1, left, "the last, whose handle goes with this call");
        left = engine.with(guest -> guest.handles.size());
        assertEquals(0, left);
    }

    @Test
    void morePoliciesThanTheModuleHasHandlesLive() {
        Engine engine = Engine.builder().instances(1).build();
        List<Policy> policies = new ArrayList<>();
        for (int i = 0; i < 4_200; i++) {
            policies.add(engine.compile(POD));
        }
        assertEquals(Action.RESTART, policies.get(0).decide(new Exit("main", 42)).action());
        assertEquals(Action.RESTART, policies.get(4_199).decide(new Exit("main", 42)).action());
    }

    @Test
    void memoryStaysSmall() {
        Engine engine = Engine.builder().instances(1).build();
        Policy policy = engine.compile(POD);
        byte[] event = utf8("{\"container\":\"main\",\"exitCode\":42}");
        for (int i = 0; i < 20_000; i++) {
            policy.eval(event);
        }
        ByteBuffer events = Event.pack(Collections.nCopies(10_000, new Event(42)));
        for (int i = 0; i < 100; i++) {
            policy.batch(events);
        }
        assertTrue(engine.idleBytes() <= 8 << 20, engine.idleBytes() + " bytes");
    }

    private static final Map<Engine.Mode, Engine> TRAPPING = new HashMap<>();

    /** An engine over the test build of the module, whose further operations trap. */
    private static synchronized Engine trapping(Engine.Mode mode) throws IOException {
        String file = System.getenv("PODFATE_TRAP_MODULE");
        Assumptions.assumeTrue(file != null, "PODFATE_TRAP_MODULE is not set: go run ./wasm/seal -tags trap -o FILE makes the module");
        if (!TRAPPING.containsKey(mode)) {
            String digest = Files.readString(Path.of(file + ".sha256")).split("\\s")[0];
            Engine.Builder builder = Engine.builder().instances(2).module(Files.readAllBytes(Path.of(file)), digest);
            if (mode == Engine.Mode.COMPILED) {
                builder.machine(module -> MachineFactoryCompiler.builder(module).withInterpreterFallback(InterpreterFallback.FAIL).compile());
            }
            TRAPPING.put(mode, builder.build());
        }
        return TRAPPING.get(mode);
    }

    @ParameterizedTest
    @CsvSource({"COMPILED,F001", "COMPILED,F002", "COMPILED,F003", "COMPILED,F004", "INTERPRETER,F001", "INTERPRETER,F002", "INTERPRETER,F003"})
    void aTrapEndsNothingButItsOwnInstance(Engine.Mode mode, String operation) throws IOException {
        Engine engine = trapping(mode);
        Policy policy = engine.compile(POD);
        Answer before = policy.eval(utf8("{\"exitCode\":42}"));
        assertFalse(before.failed());
        var trap = assertThrows(TrapException.class, () -> engine.call(Integer.parseInt(operation, 16), utf8("{}")));
        assertEquals("TRAP", trap.code());
        assertEquals(before, policy.eval(utf8("{\"exitCode\":42}")));
        assertEquals(Action.RESTART, policy.batch(List.of(new Event(42))).get(0).action());
    }

    @ParameterizedTest
    @CsvSource({"F008,INTERNAL", "F00A,MALFORMED"})
    void aCaughtPanicAndAWrongAnswerEndTheirInstance(String operation, String code) throws IOException {
        Engine engine = trapping(Engine.Mode.COMPILED);
        engine.describe();
        var trap = assertThrows(TrapException.class, () -> engine.call(Integer.parseInt(operation, 16), utf8("{}")));
        assertEquals(code, trap.code());
        assertEquals(0, engine.idleBytes());
        assertEquals("podfate", engine.describe().get("product"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"COMPILED", "INTERPRETER"})
    void aCallThatNeverReturnsEndsWhenItsThreadIsInterrupted(Engine.Mode mode) throws Exception {
        Engine engine = trapping(mode);
        CountDownLatch called = new CountDownLatch(1);
        List<Throwable> ended = new ArrayList<>();
        Thread caller = new Thread(() -> {
            called.countDown();
            try {
                engine.call(0xF005, utf8("{}"));
            } catch (PodfateException e) {
                ended.add(e);
                if (Thread.currentThread().isInterrupted()) {
                    ended.add(null);
                }
            }
        });
        caller.start();
        called.await();
        caller.interrupt();
        caller.join();
        assertEquals("INTERRUPTED", assertInstanceOf(PodfateException.class, ended.get(0)).code());
        assertEquals(2, ended.size(), "the interrupt status is kept");
        assertEquals("podfate", engine.describe().get("product"));
    }

    @Test
    void anInstanceThatGrewIsReplaced() throws IOException {
        Engine engine = trapping(Engine.Mode.COMPILED);
        engine.call(0xF006, utf8("20"));
        assertEquals(0, engine.idleBytes());
        assertEquals("podfate", engine.describe().get("product"));
    }
}
