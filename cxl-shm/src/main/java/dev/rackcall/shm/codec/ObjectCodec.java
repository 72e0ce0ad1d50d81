package dev.rackcall.shm.codec;

/**
 * Encodes objects of registered classes, which generated code cannot encode itself, in its own format. All calls of a
 * service share it, from many threads. Implementations are thread-safe.
 */
public interface ObjectCodec {
    /** The codec of a service that registers no class; rejects everything. */
    ObjectCodec NONE = new ObjectCodec() {
        @Override
        public void write(Object value, PayloadWriter out) {
            throw new PayloadException("class " + value.getClass().getName()
                    + " cannot be sent: this service registers no classes; list it in @RpcService(registered = ...)");
        }

        @Override
        public Object read(PayloadReader in) {
            throw new PayloadException("an object was sent, but this service registers no classes;"
                    + " list its class in @RpcService(registered = ...) at both ends");
        }
    };

    /**
     * Appends {@code value}.
     *
     * @throws PayloadException if the class is not registered; the message names it and says where to register it
     */
    void write(Object value, PayloadWriter out);

    /**
     * Reads what {@link #write} appended. The bytes are not trusted. Whatever they hold, the result is an object of a
     * registered class or a {@link PayloadException}, and nothing outside the reader's range is accessed.
     */
    Object read(PayloadReader in);
}
