package dev.podfate;

/** An exit, a run or an event of the request is not acceptable. */
public final class EventException extends PodfateException {
    private static final long serialVersionUID = 1;

    EventException(Details details) {
        super(details);
    }
}
