package dev.podfate;

/** The manifest, the cluster or the JSON itself is not acceptable: {@link #faults()} has each place. */
public final class PolicyException extends PodfateException {
    private static final long serialVersionUID = 1;

    PolicyException(Details details) {
        super(details);
    }
}
