package dev.podfate;

import java.util.List;

/** What the kubelet or the Job controller does. {@code toString} gives the manifest's spelling. */
public enum Action {
    /** Nothing was decided: the reason says why. */
    NONE(""),
    /** The container starts again. */
    RESTART("Restart"),
    /** All containers of the Pod start again. */
    RESTART_ALL_CONTAINERS("RestartAllContainers"),
    /** The container stays ended. */
    STOP("Stop"),
    /** The Job fails. */
    FAIL_JOB("FailJob"),
    /** The index of the Job fails. */
    FAIL_INDEX("FailIndex"),
    /** The failure is not counted. */
    IGNORE("Ignore"),
    /** The failure counts. */
    COUNT("Count"),
    /** Of a proposal: the container stays ended, and counts as one that has succeeded. */
    COMPLETE("Complete"),
    /** Of a proposal: the container is never started again. */
    TERMINATE("Terminate"),
    /** Of a proposal: the Pod fails. */
    TERMINATE_POD("TerminatePod"),
    /** Of a proposal: the Pod starts anew, in a new sandbox. */
    RESTART_POD("RestartPod"),
    /** An action of a newer module, of which this library knows nothing. */
    UNKNOWN("?");

    private static final List<Action> ALL = List.of(values());

    private final String word;

    Action(String word) {
        this.word = word;
    }

    static Action of(int number) {
        return number < UNKNOWN.ordinal() ? ALL.get(number) : UNKNOWN;
    }

    static Action of(String word) {
        return ALL.stream().filter(a -> a.word.equals(word)).findFirst().orElse(UNKNOWN);
    }

    @Override
    public String toString() {
        return word;
    }
}
