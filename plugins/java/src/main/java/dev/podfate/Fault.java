package dev.podfate;

import java.util.List;
import java.util.Map;

/**
 * One fault in a manifest or a request.
 *
 * @param path from the manifest's root ({@code spec.containers[0].restartPolicy}), or from the request's root
 * @param code stable, for programs
 * @param detail for people
 * @param message the exact text of the API server, where it has one, else empty
 * @param type the API server's kind of fault ({@code Forbidden}), else empty
 * @param allowed the values that are allowed, where there is a list of them
 * @param line where it is in the JSON text that was sent, from 1; 0 if unknown
 * @param column from 1; 0 if unknown
 */
public record Fault(String path, String code, String detail, String message, String type, List<String> allowed, int line, int column) {
    static List<Fault> list(Object faults) {
        return Values.list(faults).stream().map(Values::map).map(Fault::of).toList();
    }

    private static Fault of(Map<String, Object> value) {
        return new Fault(Values.text(value, "path"), Values.text(value, "code"), Values.text(value, "detail"), Values.text(value, "message"),
                Values.text(value, "type"), Values.list(value.get("allowed")).stream().map(String::valueOf).toList(),
                (int) Values.number(value, "line", 0), (int) Values.number(value, "column", 0));
    }
}
