package dev.podfate;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/**
 * The answer to one {@link Event}.
 *
 * @param action what happens; NONE if the event makes no sense, is undecided, or is not the last of its Pod
 * @param status 0, or the number of the error that the event is
 * @param rule the position of the rule, from 0; -1 for none
 * @param reason why, for programs ({@code rule_matched})
 * @param level rule, container, pod or default; empty for none
 * @param ignored why a rule that matched did not decide; empty if none did
 * @param flags {@link #POD_FAILS}, {@link #UNDECIDED}, {@link #COUNTED}, {@link #MORE_FOLLOWS}
 * @param waitMillis how long the back-off lasts; -1 if nothing starts, or the event had no history
 * @param container the position of the container that was judged; -1 for none
 * @param condition the position of the condition that matched; -1 for none
 * @param tag the event's
 */
public record Verdict(Action action, int status, int rule, String reason, String level, String ignored, int flags, long waitMillis,
        int container, int condition, int tag) {
    /** This end makes the whole Pod fail. */
    public static final int POD_FAILS = 1;
    /** No action; rule and reason say why. */
    public static final int UNDECIDED = 2;
    /** The failure counts towards the Job's limits. */
    public static final int COUNTED = 4;
    /** No action: the verdict is that of a later event of the Pod. */
    public static final int MORE_FOLLOWS = 8;
    /** Bytes of a verdict in a buffer. */
    public static final int BYTES = 24;

    static final int HEADER_BYTES = 16;

    // The words of the numbers, append-only.
    static final List<String> LEVELS = List.of("", "rule", "container", "pod", "default", "limit");
    static final List<String> REASONS = List.of("", "rule_matched", "policy_always", "policy_on_failure_failed", "policy_on_failure_succeeded",
            "policy_never", "unknown_pod_policy", "sidecar_always_restarts", "init_completed", "init_retried", "ephemeral_never_restarts",
            "unknown_action", "unknown_operator", "no_rule_matched", "managed_by", "policy_always_pod", "restart_limit_reached");
    static final List<String> IGNORED = List.of("", "unknown_action", "gate_off", "sidecar", "init_completed", "no_policy", "restart_limit");

    /** Reads a verdict at the position of a buffer, which moves by {@link #BYTES}.
     *
     * @param in a little-endian buffer
     * @return the verdict
     * @throws IllegalArgumentException if its order is another one, as that of a duplicate is
     */
    public static Verdict read(ByteBuffer in) {
        Action action = Action.of(Byte.toUnsignedInt(Event.littleEndian(in).get()));
        int status = Byte.toUnsignedInt(in.get());
        int rule = number(in.getShort());
        String reason = word(REASONS, in.get());
        String level = word(LEVELS, in.get());
        String ignored = word(IGNORED, in.get());
        int flags = Byte.toUnsignedInt(in.get());
        return new Verdict(action, status, rule, reason, level, ignored, flags, in.getLong(), number(in.getShort()), number(in.getShort()), in.getInt());
    }

    static List<Verdict> unpack(ByteBuffer in) {
        List<Verdict> verdicts = new ArrayList<>(in.remaining() / BYTES);
        while (in.hasRemaining()) {
            verdicts.add(read(in));
        }
        return verdicts;
    }

    static boolean isHeader(byte[] answer, int count) {
        ByteBuffer in = ByteBuffer.wrap(answer).order(ByteOrder.LITTLE_ENDIAN);
        return in.getInt() == 0x31524650 && in.getShort() == 1 && in.getShort() == BYTES && in.getInt() == count;
    }

    private static int number(short bits) {
        return bits; // 0xFFFF is -1, and no list of the module has 32768 entries
    }

    /** A number that a newer module has given, and this library no word for, becomes its digits. */
    private static String word(List<String> words, byte bits) {
        int number = Byte.toUnsignedInt(bits);
        return number < words.size() ? words.get(number) : Integer.toString(number);
    }
}
