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
 * <p>Kryo is loaded when the first object travels, so a service whose objects stay at home costs neither the time nor
 * the memory. Thread-safe.
 */
public final class KryoCodec implements ObjectCodec {
    private final List<Class<?>> registered;
    /** Null until the first object. Threads that race for it each use one; the last one stays. */
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
     * @throws IllegalStateException if other code of this process told Kryo to use Unsafe
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
