package dev.podfate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class JsonTest {
    static Stream<String> exact() {
        return Stream.of("{}", "[]", "null", "true", "false", "0", "-1", "9223372036854775807", "123456789012345678901234567890", "1.5", "\"\"", "\"a\\\"\\\\\\u0001é😀\"",
                "{\"b\":[1,{\"a\":null}],\"a\":[[]]}", "[true,false]");
    }

    @ParameterizedTest
    @MethodSource
    void exact(String text) throws Json.Malformed {
        StringBuilder out = new StringBuilder();
        Json.write(out, Json.parse(text));
        assertEquals(text, out.toString());
    }

    static Stream<String> malformed() {
        return Stream.of("", " ", "{", "[", "[1,]", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{a:1}", "01", "-", "1.", "1e", "+1", ".5", "tru", "nul", "\"", "\"\\", "\"\\x\"",
                "\"\\u12\"", "\"\\u12g4\"", "\"\n\"", "1 2", "{} {}", "'a'", "[1 2]", "1e99999999999", "NaN", "[".repeat(100_000));
    }

    @ParameterizedTest
    @MethodSource
    void malformed(String text) {
        assertThrows(Json.Malformed.class, () -> Json.parse(text));
    }

    @Test
    void escapesAreRead() throws Json.Malformed {
        assertEquals("\"\\/\b\f\n\r\té😀", Json.parse("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\uD83D\\uDE00\""));
        assertEquals(new java.math.BigDecimal("1E+2"), Json.parse(" 1e2 "));
    }
}
