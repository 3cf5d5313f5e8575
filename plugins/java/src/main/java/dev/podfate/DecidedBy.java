package dev.podfate;

import java.util.Map;

/**
 * The part of the manifest that decided.
 *
 * @param level rule, container, pod or default
 * @param path where it is, from the manifest's root
 * @param rule the position of the rule, from 0; -1 if no rule decided
 */
public record DecidedBy(String level, String path, int rule) {
    static DecidedBy of(Map<String, Object> value) {
        return new DecidedBy(Values.text(value, "level"), Values.text(value, "path"), (int) Values.number(value, "rule", -1));
    }
}
