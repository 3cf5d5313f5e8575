package dev.podfate;

import java.util.List;
import java.util.Map;

/** Members of answers, by type. A member that is missing, or of another type, has the value for nothing. */
final class Values {
    private Values() {}

    @SuppressWarnings("unchecked")
    static Map<String, Object> map(Object value) {
        return value instanceof Map<?, ?> map ? (Map<String, Object>) map : Map.of();
    }

    @SuppressWarnings("unchecked")
    static List<Object> list(Object value) {
        return value instanceof List<?> list ? (List<Object>) list : List.of();
    }

    static String text(Map<String, Object> value, String name) {
        return value.get(name) instanceof String text ? text : "";
    }

    static long number(Map<String, Object> value, String name, long otherwise) {
        return value.get(name) instanceof Long number ? number : otherwise;
    }

    static boolean flag(Map<String, Object> value, String name) {
        return Boolean.TRUE.equals(value.get(name));
    }
}
