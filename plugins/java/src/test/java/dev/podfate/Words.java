package dev.podfate;

import java.util.Arrays;
import java.util.Map;

/** Prints the words of verdicts as JSON, for a comparison with the core's. */
public final class Words {
    private Words() {}

    public static void main(String[] arguments) {
        StringBuilder out = new StringBuilder();
        Json.write(out, Map.of("actions", Arrays.stream(Action.values()).filter(a -> a != Action.UNKNOWN).map(Action::toString).toList(),
                "levels", Verdict.LEVELS, "reasons", Verdict.REASONS, "ignored", Verdict.IGNORED));
        System.out.println(out);
    }
}
