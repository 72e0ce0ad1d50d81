package dev.rackcall.shm.codec;

/** Rejects every object. */
final class NoObjects implements ObjectCodec {
    static final NoObjects INSTANCE = new NoObjects();

    private NoObjects() {}

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
}
