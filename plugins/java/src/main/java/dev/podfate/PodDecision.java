package dev.podfate;

import java.util.Map;

/**
 * What the Job controller does about one Pod.
 *
 * @param pod its name
 * @param action FailJob, FailIndex, Ignore or Count; NONE if it is not judged or not decided, and then {@code json} says why
 * @param rule the position of the rule, from 0; -1 for none
 * @param counted whether the failure counts towards backoffLimit
 * @param message with FailJob: the text that the Job's condition gets
 * @param json the whole answer
 */
public record PodDecision(String pod, Action action, int rule, boolean counted, String message, Map<String, Object> json) {
    static PodDecision of(Map<String, Object> value) {
        return new PodDecision(Values.text(value, "pod"), Action.of(Values.text(value, "action")), (int) Values.number(value, "rule", -1),
                Values.flag(value, "counted"), Values.text(value, "message"), value);
    }
}
