package dev.podfate;

/** A call ended its instance, or its answer broke a rule. The instance is dropped, the request is not repeated, and the next call gets another instance. */
public final class TrapException extends PodfateException {
    private static final long serialVersionUID = 1;

    TrapException(Details details, Throwable cause) {
        super(details, cause);
    }
}
