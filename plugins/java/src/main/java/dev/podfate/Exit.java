package dev.podfate;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * A container that ended.
 *
 * @param container its name; empty if the Pod has one main container
 * @param exitCode its exit code
 * @param reason the runtime's reason, such as {@code OOMKilled}; empty for none
 * @param restarts how often it was restarted since its back-off began anew; -1 to leave the back-off out. Only for {@link Policy}
 * @param ranForMillis how long it ran, from 0; -1 to leave it out. Only for {@link Policy}
 */
public record Exit(String container, int exitCode, String reason, int restarts, long ranForMillis) {
    /** An exit without reason and history.
     *
     * @param container the container's name
     * @param exitCode its exit code
     */
    public Exit(String container, int exitCode) {
        this(container, exitCode, "", -1, -1);
    }

    /** The same exit with its history, so that a restart has a delay.
     *
     * @param restarts how often the container was restarted since its back-off began anew
     * @param ranForMillis how long it ran
     * @return another exit
     */
    public Exit after(int restarts, long ranForMillis) {
        return new Exit(container, exitCode, reason, restarts, ranForMillis);
    }

    Map<String, Object> json() {
        Map<String, Object> value = new LinkedHashMap<>();
        if (!container.isEmpty()) {
            value.put("container", container);
        }
        value.put("exitCode", exitCode);
        if (!reason.isEmpty()) {
            value.put("reason", reason);
        }
        if (restarts != -1) {
            value.put("restarts", restarts);
        }
        if (ranForMillis != -1) {
            value.put("ranForMillis", ranForMillis);
        }
        return value;
    }
}
