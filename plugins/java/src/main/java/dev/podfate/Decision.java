package dev.podfate;

import java.util.Map;

/**
 * What the kubelet does about one exit.
 *
 * @param container the container that ended
 * @param exitCode its exit code
 * @param action Restart, RestartAllContainers or Stop; NONE where the module does not know, and then {@code undecided} says why
 * @param because why, for programs ({@code rule_matched})
 * @param decidedBy the part of the manifest that decided; its members are empty if none did
 * @param delayMillis how long the back-off lasts; -1 if nothing starts, or the exit had no history
 * @param podFails whether this end makes the whole Pod fail
 * @param undecided why there is no answer, else empty
 * @param json the whole answer, with the trace of {@link Engine#decide}
 */
public record Decision(String container, int exitCode, Action action, String because, DecidedBy decidedBy, long delayMillis, boolean podFails,
        String undecided, Map<String, Object> json) {
    static Decision of(Map<String, Object> value) {
        return new Decision(Values.text(value, "container"), (int) Values.number(value, "exitCode", 0), Action.of(Values.text(value, "action")),
                Values.text(value, "because"), DecidedBy.of(Values.map(value.get("decidedBy"))), Values.number(value, "delayMillis", -1),
                Values.flag(value, "podFails"), Values.text(Values.map(value.get("undecided")), "reason"), value);
    }
}
