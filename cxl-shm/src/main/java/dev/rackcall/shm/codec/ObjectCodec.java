package dev.rackcall.shm.codec;

/**
 * Encodes objects of classes that generated code does not know, in a format of its own. Used by every call of a service, from many threads
 * at a time: implementations are thread-safe.
 */
public interface ObjectCodec {
    /**
     * Appends {@code value}.
     *
     * @throws PayloadException if the class is not registered; the message names it and says where to register it
     */
    void write(Object value, PayloadWriter out);

    /**
     * Reads what {@link #write} appended. The bytes are not trusted: whatever they hold, the answer is an object of a registered class or a
     * {@link PayloadException}, and nothing outside the reader's range is touched.
     */
    Object read(PayloadReader in);

    /** The codec of a service that registers no class: refuses everything. */
    static ObjectCodec none() {
        return NoObjects.INSTANCE;
    }
}
