package dev.podfate;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Collection;

/**
 * One record of a batch: an exit, or one terminated container of a failed Pod. Numbers only.
 *
 * @param exitCode the exit code
 * @param container its position in {@link Policy#containers()}; {@link #NONE} for the only main container of the Pod, or, in a failed
 *     Pod, for one that the manifest does not have
 * @param flags {@link #OOM_KILLED}, {@link #HISTORY}, {@link #MORE}, {@link #RESTARTS}
 * @param history restarts since the back-off began anew, for a Pod failures in a row; 0 to 2<sup>32</sup>-1, read with HISTORY only
 * @param tag the caller's; the verdict repeats it
 * @param ranForMillis how long the container ran, from 0; read with HISTORY only
 * @param conditions a bit for each position in {@link Policy#conditions()}; failed Pods, or exits with RESTARTS
 */
public record Event(int exitCode, int container, int flags, long history, int tag, long ranForMillis, long conditions) {
    /** No container, in an event; in its bytes, and in verdicts as bytes, also no rule and no condition. */
    public static final int NONE = 0xFFFF;
    /** The runtime's reason is OOMKilled. */
    public static final int OOM_KILLED = 1;
    /** history and ranForMillis count; without it a verdict has no wait. */
    public static final int HISTORY = 2;
    /** The next event is about the same Pod. */
    public static final int MORE = 4;
    /** conditions holds restart counts, that of the container and above 32 bits the sum of all: rules of proposals ask for them. */
    public static final int RESTARTS = 8;
    /** Bytes of an event in a buffer. */
    public static final int BYTES = 32;

    static final int HEADER_BYTES = 24;

    /** Checks that each number fits its field; whether it makes sense is the module's to say.
     *
     * @param exitCode any
     * @param container of 16 bits
     * @param flags of 16 bits
     * @param history of 32 bits
     * @param tag any
     * @param ranForMillis any
     * @param conditions any
     */
    public Event {
        if (container < 0 || container > NONE || flags < 0 || flags > 0xFFFF || history < 0 || history > 0xFFFFFFFFL) {
            throw new IllegalArgumentException("container and flags have 16 bits, history has 32");
        }
    }

    /** An exit of the Pod's only main container.
     *
     * @param exitCode its exit code
     */
    public Event(int exitCode) {
        this(exitCode, NONE);
    }

    /** An exit without history.
     *
     * @param exitCode the exit code
     * @param container the container's position
     */
    public Event(int exitCode, int container) {
        this(exitCode, container, 0, 0, 0, 0, 0);
    }

    /** Writes the event at the position of a buffer, which moves by {@link #BYTES}.
     *
     * @param out a little-endian buffer
     * @throws IllegalArgumentException if its order is another one, as that of a new buffer is
     */
    public void write(ByteBuffer out) {
        littleEndian(out).putInt(exitCode).putShort((short) container).putShort((short) flags).putInt((int) history).putInt(tag).putLong(ranForMillis).putLong(conditions);
    }

    /** A duplicate or a slice does not inherit the order of its buffer: what is read and written so is not what was meant. */
    static ByteBuffer littleEndian(ByteBuffer buffer) {
        if (buffer.order() != ByteOrder.LITTLE_ENDIAN) {
            throw new IllegalArgumentException("the buffer has the order BIG_ENDIAN: call order(ByteOrder.LITTLE_ENDIAN)");
        }
        return buffer;
    }

    static ByteBuffer pack(Collection<Event> events) {
        ByteBuffer out = ByteBuffer.allocate(Math.multiplyExact(events.size(), BYTES)).order(ByteOrder.LITTLE_ENDIAN);
        events.forEach(event -> event.write(out));
        return out.flip();
    }

    /** The head of a batch. */
    static byte[] header(int count, boolean pods) {
        return ByteBuffer.allocate(HEADER_BYTES).order(ByteOrder.LITTLE_ENDIAN).putInt(0x31424650).putShort((short) 1).putShort((short) BYTES)
                .putInt(count).putInt(pods ? 1 : 0).array();
    }
}
