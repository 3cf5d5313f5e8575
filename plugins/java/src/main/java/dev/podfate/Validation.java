package dev.podfate;

import java.util.List;
import java.util.Map;

/**
 * Would the API server accept the manifest?
 *
 * @param valid whether it would
 * @param faults why not, in the order of the API server
 * @param json the whole answer, with warnings and what disabled gates drop
 */
public record Validation(boolean valid, List<Fault> faults, Map<String, Object> json) {
    static Validation of(Map<String, Object> value) {
        return new Validation(Values.flag(value, "valid"), Fault.list(value.get("faults")), value);
    }
}
