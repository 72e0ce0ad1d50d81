package dev.rackcall.rpc.shm.client;

import dev.rackcall.rpc.spi.ServedInterface;
import dev.rackcall.shm.codec.ObjectCodec;
import dev.rackcall.shm.codec.PayloadReader;
import dev.rackcall.shm.codec.PayloadWriter;

/**
 * One of the services that are called over a connection: its number there, and the codec of its objects. Thread-safe.
 */
final class CalledService implements ObjectCodec {
    final int number;
    final ServedInterface served;

    private volatile ObjectCodec objects;

    CalledService(int number, ServedInterface served) {
        this.number = number;
        this.served = served;
    }

    /** Encodes objects by that codec from now on. */
    void use(ObjectCodec codec) {
        objects = codec;
    }

    private ObjectCodec codec() {
        ObjectCodec codec = objects;
        if (codec == null) {
            throw new IllegalStateException("an object was encoded before the channel made its first stub");
        }
        return codec;
    }

    @Override
    public void write(Object value, PayloadWriter out) {
        codec().write(value, out);
    }

    @Override
    public Object read(PayloadReader in) {
        return codec().read(in);
    }
}
