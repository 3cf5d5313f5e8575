package dev.podfate;

/** The request is beyond a limit: {@link #limit()} names it. */
public final class LimitException extends PodfateException {
    private static final long serialVersionUID = 1;

    LimitException(Details details) {
        super(details);
    }
}
