package dev.rackcall.rpc.runtime;

import dev.rackcall.shm.codec.ObjectCodec;
import dev.rackcall.shm.codec.PayloadReader;
import dev.rackcall.shm.codec.PayloadWriter;
import java.util.List;

/**
 * Encodes objects of registered classes by Kryo, shared and cyclic references included: 4 bytes length, then Kryo's own
 * format. A registered class may hold other registered classes and some values of the JDK; it needs no constructor and
 * no annotation.
 *
 * <p>Kryo is loaded when the first object travels, so services that never send such an object do not pay for it.
 * Thread-safe.
 */
public final class KryoCodec implements ObjectCodec {
    private final List<Class<?>> registered;
    /** Null until the first object. Racing threads may each create one; the last one is kept. */
    private volatile ObjectCodec objects;

    private KryoCodec(List<Class<?>> registered) {
        this.registered = List.copyOf(registered);
    }

    /** A codec for these classes; the order is part of the format. Without any, {@link ObjectCodec#NONE}. */
    public static ObjectCodec of(List<Class<?>> registered) {
        return registered.isEmpty() ? ObjectCodec.NONE : new KryoCodec(registered);
    }

    /**
     * {@inheritDoc}
     *
     * @throws IllegalStateException if other code in this process made Kryo use Unsafe
     */
    @Override
    public void write(Object value, PayloadWriter out) {
        objects().write(value, out);
    }

    /**
     * {@inheritDoc}
     *
     * @throws IllegalStateException as {@link #write}
     */
    @Override
    public Object read(PayloadReader in) {
        return objects().read(in);
    }

    private ObjectCodec objects() {
        ObjectCodec known = objects;
        if (known == null) {
            known = new KryoObjects(registered);
            objects = known;
        }
        return known;
    }
}
