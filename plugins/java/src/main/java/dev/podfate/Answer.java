package dev.podfate;

import java.util.Map;

/**
 * What the module answered, as it is.
 *
 * @param text JSON
 * @param failed whether it is an error payload: {@code {"error":{…}}}
 */
public record Answer(String text, boolean failed) {
    /** The answer as maps, lists, texts, {@code Long}s and booleans, in its order.
     *
     * @return the object, which the caller may change
     */
    public Map<String, Object> json() {
        Map<String, Object> value = Json.object(text);
        if (value == null) {
            throw new TrapException(new PodfateException.Details("MALFORMED", "the answer is no JSON object"), null);
        }
        return value;
    }

    /** The answer's members, unless it is an error. */
    Map<String, Object> orThrow(boolean event) {
        Map<String, Object> value = json();
        if (failed) {
            throw PodfateException.of(Values.map(value.get("error")), event);
        }
        return value;
    }
}
