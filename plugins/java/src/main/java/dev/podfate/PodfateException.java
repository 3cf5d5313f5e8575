package dev.podfate;

import java.util.List;
import java.util.Map;

/**
 * What the module refused, or what is wrong with the module. The subclasses say what a caller can do about it; an exception of this
 * class itself is about the use of this library: {@code UNKNOWN_HANDLE} (a policy that was closed), {@code BUSY} (all instances
 * were busy for as long as the engine waits), {@code INTERRUPTED} (the thread was, and its interrupt status stays set).
 */
public class PodfateException extends RuntimeException {
    private static final long serialVersionUID = 1;

    // By number. Numbers are the ABI's, which only grow.
    private static final String[] CODES = {"", "BAD_JSON", "BAD_UTF8", "MANIFEST_INVALID", "EVENT_INVALID", "UNKNOWN_HANDLE",
        "LIMIT_EXCEEDED", "UNSUPPORTED_OP", "UNSUPPORTED_VERSION", "INTERNAL", "BAD_BUFFER", "OUTPUT_TOO_SMALL", "BUDGET_EXCEEDED"};

    private final transient Details details;

    /** What an error payload says. offset: in bytes of the request, -1 if unknown. */
    record Details(String code, int num, String message, String path, long offset, String limit, List<Fault> faults) {
        Details(String code, String message) {
            this(code, 0, message, "", -1, "", List.of());
        }
    }

    PodfateException(Details details) {
        this(details, null);
    }

    PodfateException(Details details, Throwable cause) {
        super(details.code() + ": " + details.message(), cause);
        this.details = details;
    }

    /** The code of the error: the module's ({@code MANIFEST_INVALID}) or this library's ({@code DIGEST}, {@code ABI}, {@code TRAP}, {@code MALFORMED}, {@code BUSY}, {@code INTERRUPTED}).
     *
     * @return its code
     */
    public String code() {
        return details == null ? "" : details.code();
    }

    /** The module's number for the error.
     *
     * @return from 1; 0 for this library's own codes
     */
    public int num() {
        return details == null ? 0 : details.num();
    }

    /** Where the fault is, from the root of the manifest or the request.
     *
     * @return empty if the module says nothing
     */
    public String path() {
        return details == null ? "" : details.path();
    }

    /** Where the fault is in the request, in bytes.
     *
     * @return -1 if unknown
     */
    public long offset() {
        return details == null ? -1 : details.offset();
    }

    /** The limit that was exceeded, as {@code describe} names it.
     *
     * @return empty if it was none
     */
    public String limit() {
        return details == null ? "" : details.limit();
    }

    /** All faults, in the order of the document.
     *
     * @return empty if the error is about no place
     */
    public List<Fault> faults() {
        return details == null ? List.of() : details.faults();
    }

    /** The exception for the object {@code error} of an error payload. event: the request was an event of pf_eval. */
    static PodfateException of(Map<String, Object> error, boolean event) {
        return of(new Details(Values.text(error, "code"), (int) Values.number(error, "num", 0), Values.text(error, "message"),
                Values.text(error, "path"), Values.number(error, "offset", -1), Values.text(error, "limit"), Fault.list(error.get("faults"))), event);
    }

    /** The exception for an error number of a function without payload. */
    static PodfateException of(int num, String message) {
        return of(new Details(num > 0 && num < CODES.length ? CODES[num] : "INTERNAL", num, message, "", -1, "", List.of()), true);
    }

    private static PodfateException of(Details details, boolean event) {
        return switch (details.num()) {
            case 1, 2 -> event ? new EventException(details) : new PolicyException(details);
            case 3, 8 -> new PolicyException(details);
            case 4 -> new EventException(details);
            case 6, 11, 12 -> new LimitException(details);
            case 9 -> new TrapException(details, null);
            default -> new PodfateException(details);
        };
    }
}
