package dev.podfate;

/** The operations of the module. Their numbers never change; {@link Engine#describe()} lists those of a module. */
public enum Operation {
    /** What the module knows. */
    DESCRIBE(1),
    /** Would the API server accept the manifest? */
    VALIDATE(2),
    /** What happens after each exit? */
    DECIDE(3),
    /** The timeline of runs and events. */
    SIMULATE(4),
    /** When do restarts come? */
    CURVE(5),
    /** Any of these in words and figures. */
    EXPLAIN(6),
    /** What does every exit code lead to, for the container and for its Job? */
    TABLE(7),
    /** Two to eight variants of a request: where do their answers differ? */
    COMPARE(8),
    /** The smallest edits that change the outcome of an exit, or the shortest policy that does what is wished. */
    SUGGEST(9),
    /** The same policy written for a draft, a proposal or a release, and what is lost on the way. */
    TRANSLATE(10),
    /** What many Pods on many nodes cost, calculated. */
    FLEET(11);

    final int number;

    Operation(int number) {
        this.number = number;
    }
}
