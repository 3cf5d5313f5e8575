package dev.podfate;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Reads and writes the JSON of requests and answers: objects as {@code LinkedHashMap}, arrays as {@code ArrayList}, numbers as
 * {@code Long}, or {@code BigDecimal} where that does not hold them.
 */
final class Json {
    /** More than the module allows (64), and far less than a stack. */
    private static final int MAX_DEPTH = 500;

    /** A JSON text that is written as it is. */
    record Raw(String text) {}

    /** The text is not JSON from {@code offset} on, in chars. */
    static final class Malformed extends Exception {
        private static final long serialVersionUID = 1;
        final int offset;
        final boolean deep;

        Malformed(String message, int offset, boolean deep) {
            super(message);
            this.offset = offset;
            this.deep = deep;
        }
    }

    private final String text;
    private int at;

    private Json(String text) {
        this.text = text;
    }

    static Object parse(String text) throws Malformed {
        Json json = new Json(text);
        Object value = json.value(0);
        json.space();
        if (json.at != text.length()) {
            throw json.malformed("more after the value");
        }
        return value;
    }

    /** Parses an answer of the module; null if it is not one JSON object. */
    @SuppressWarnings("unchecked")
    static Map<String, Object> object(String text) {
        try {
            return parse(text) instanceof Map<?, ?> map ? (Map<String, Object>) map : null;
        } catch (Malformed e) {
            return null;
        }
    }

    private Malformed malformed(String message) {
        return new Malformed(message, at, false);
    }

    private void space() {
        while (at < text.length() && " \t\n\r".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
    }

    /** The next character after white space, 0 at the end. */
    private char peek() {
        space();
        return at < text.length() ? text.charAt(at) : 0;
    }

    private Object value(int depth) throws Malformed {
        if (depth > MAX_DEPTH) {
            throw new Malformed("nested too deeply", at, true);
        }
        char c = peek();
        switch (c) {
            case '{':
                return members(depth);
            case '[':
                return elements(depth);
            case '"':
                return string();
            case 't':
                return word("true", Boolean.TRUE);
            case 'f':
                return word("false", Boolean.FALSE);
            case 'n':
                return word("null", null);
            default:
                if (c == '-' || c >= '0' && c <= '9') {
                    return number();
                }
                throw malformed("no value");
        }
    }

    private Map<String, Object> members(int depth) throws Malformed {
        Map<String, Object> map = new LinkedHashMap<>();
        at++;
        if (peek() == '}') {
            at++;
            return map;
        }
        while (true) {
            if (peek() != '"') {
                throw malformed("no name");
            }
            String name = string();
            if (peek() != ':') {
                throw malformed("no colon");
            }
            at++;
            map.put(name, value(depth + 1));
            if (!another('}')) {
                return map;
            }
        }
    }

    private List<Object> elements(int depth) throws Malformed {
        List<Object> list = new ArrayList<>();
        at++;
        if (peek() == ']') {
            at++;
            return list;
        }
        do {
            list.add(value(depth + 1));
        } while (another(']'));
        return list;
    }

    private boolean another(char end) throws Malformed {
        char c = peek();
        if (c != ',' && c != end) {
            throw malformed("neither a comma nor an end");
        }
        at++;
        return c == ',';
    }

    private Object word(String word, Object value) throws Malformed {
        if (!text.startsWith(word, at)) {
            throw malformed("no value");
        }
        at += word.length();
        return value;
    }

    private Object number() throws Malformed {
        int start = at;
        if (text.charAt(at) == '-') {
            at++;
        }
        int first = at;
        digits();
        if (at - first > 1 && text.charAt(first) == '0') {
            throw malformed("a number with a leading zero");
        }
        boolean whole = true;
        if (at < text.length() && text.charAt(at) == '.') {
            at++;
            digits();
            whole = false;
        }
        if (at < text.length() && (text.charAt(at) | 0x20) == 'e') {
            at++;
            if (at < text.length() && (text.charAt(at) == '+' || text.charAt(at) == '-')) {
                at++;
            }
            digits();
            whole = false;
        }
        String digits = text.substring(start, at);
        try {
            if (whole && digits.length() < 19) {
                return Long.parseLong(digits);
            }
            return new BigDecimal(digits);
        } catch (NumberFormatException e) { // an exponent of more than 32 bits
            throw malformed("a number beyond all bounds");
        }
    }

    private void digits() throws Malformed {
        int start = at;
        while (at < text.length() && text.charAt(at) >= '0' && text.charAt(at) <= '9') {
            at++;
        }
        if (at == start) {
            throw malformed("no digit");
        }
    }

    private String string() throws Malformed {
        int start = ++at;
        while (at < text.length() && text.charAt(at) != '"' && text.charAt(at) != '\\' && text.charAt(at) >= ' ') {
            at++;
        }
        if (at < text.length() && text.charAt(at) == '"') {
            return text.substring(start, at++);
        }
        StringBuilder out = new StringBuilder(text.substring(start, at));
        while (at < text.length()) {
            char c = text.charAt(at++);
            if (c == '"') {
                return out.toString();
            } else if (c < ' ') {
                at--;
                throw malformed("a control character");
            } else if (c == '\\') {
                out.append(escape());
            } else {
                out.append(c);
            }
        }
        throw malformed("a text without end");
    }

    private char escape() throws Malformed {
        char c = at < text.length() ? text.charAt(at++) : 0;
        int known = "\"\\/bfnrt".indexOf(c);
        if (c == 'u' && at + 4 <= text.length()) {
            int code = 0;
            for (int end = at + 4; at < end; at++) {
                int digit = Character.digit(text.charAt(at), 16);
                if (digit < 0 || text.charAt(at) > 'f') {
                    throw malformed("no hexadecimal digit");
                }
                code = code << 4 | digit;
            }
            return (char) code;
        }
        if (c == 0 || known < 0) {
            throw malformed("no such escape");
        }
        return "\"\\/\b\f\n\r\t".charAt(known);
    }

    /**
     * Writes maps, iterables, texts, numbers, booleans, null and {@link Raw}; keys as texts.
     *
     * @throws IllegalArgumentException for anything else, and for what is no JSON: NaN, infinity, a cycle
     */
    static void write(StringBuilder out, Object value) {
        write(out, value, 0);
    }

    private static void write(StringBuilder out, Object value, int depth) {
        if (depth > MAX_DEPTH) {
            throw new IllegalArgumentException("nested too deeply");
        }
        if (value == null || value instanceof Boolean || value instanceof Long || value instanceof Integer || value instanceof Short
                || value instanceof Byte || value instanceof BigInteger || value instanceof BigDecimal) {
            out.append(value);
        } else if (value instanceof Double || value instanceof Float) {
            double number = ((Number) value).doubleValue();
            if (!Double.isFinite(number)) {
                throw new IllegalArgumentException(number + " is no JSON");
            }
            out.append(value);
        } else if (value instanceof Raw raw) {
            out.append(raw.text());
        } else if (value instanceof CharSequence || value instanceof Enum<?>) {
            text(out, value.toString());
        } else if (value instanceof Map<?, ?> map) {
            char before = '{';
            for (Map.Entry<?, ?> entry : map.entrySet()) {
                out.append(before);
                before = ',';
                text(out, String.valueOf(entry.getKey()));
                out.append(':');
                write(out, entry.getValue(), depth + 1);
            }
            out.append(before == '{' ? "{}" : "}");
        } else if (value instanceof Iterable<?> list) {
            char before = '[';
            for (Object element : list) {
                out.append(before);
                before = ',';
                write(out, element, depth + 1);
            }
            out.append(before == '[' ? "[]" : "]");
        } else {
            throw new IllegalArgumentException(value.getClass().getName() + " is no JSON");
        }
    }

    private static void text(StringBuilder out, String text) {
        out.append('"');
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '"' || c == '\\') {
                out.append('\\').append(c);
            } else if (c < ' ') {
                out.append("\\u00").append(Character.forDigit(c >> 4, 16)).append(Character.forDigit(c & 15, 16));
            } else {
                out.append(c);
            }
        }
        out.append('"');
    }
}
