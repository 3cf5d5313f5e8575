package dev.podfate;

/** The file is not the expected module: other bytes ({@code DIGEST}), or another ABI ({@code ABI}). */
public final class ModuleException extends PodfateException {
    private static final long serialVersionUID = 1;

    ModuleException(Details details, Throwable cause) {
        super(details, cause);
    }
}
