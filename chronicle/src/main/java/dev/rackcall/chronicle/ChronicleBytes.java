package dev.rackcall.chronicle;

import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.spi.ClientCall;
import dev.rackcall.rpc.spi.ServerCall;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.codec.PayloadException;
import dev.rackcall.shm.codec.PayloadReader;
import dev.rackcall.shm.codec.PayloadWriter;
import dev.rackcall.shm.types.SharedBytes;
import net.openhft.chronicle.bytes.Bytes;
import net.openhft.chronicle.bytes.BytesStore;

/**
 * {@code Bytes<?>} of Chronicle that lie in shared memory. As an argument or a result such an object travels by pointer:
 * the receiver reads, without a copy, what lies between its read position and its write position. Any other {@code
 * Bytes} is copied.
 *
 * <p>Chronicle Bytes knows addresses, not scopes. The memory of an argument is valid until the call ends, that of a result
 * until {@link #release}, and that of {@link #create} as long as its scope. A later access reads or overwrites other data,
 * or crashes the JVM. Rackcall cannot detect it, nor a store into what another process sent: treat that as read-only.
 */
public final class ChronicleBytes {
    private ChronicleBytes() {}

    /**
     * Creates an empty {@code Bytes} in a scope, with room for {@code capacity} bytes; it does not grow. Allocate
     * arguments in a scope of the channel, results in {@code RpcContext.replyScope()}.
     *
     * @throws IllegalArgumentException if the capacity is negative
     */
    public static Bytes<?> create(Scope scope, int capacity) {
        return new SharedStore(SharedBytes.create(scope, capacity)).fillable();
    }

    /** All bytes of a field of a shared object, in place, to be read; valid as long as the object. */
    public static Bytes<?> over(SharedBytes bytes) {
        return new SharedStore(bytes).view(0, bytes.length());
    }

    /** Releases a result, which must not be used any more. Does nothing if the result is a copy. */
    public static void release(RpcChannel channel, Bytes<?> result) {
        if (result.bytesStore() instanceof SharedStore store) {
            channel.release(store.object());
        }
    }

    /** For generated code. */
    public static void write(PayloadWriter out, ClientCall call, Bytes<?> value, String name) {
        BytesStore<?, ?> store = PayloadWriter.required(value, name).bytesStore();
        if (store instanceof SharedStore shared) {
            writeShared(out, call.share(shared.object(), name), value);
        } else {
            writeCopy(out, value, name);
        }
    }

    /** For generated code. */
    public static void write(PayloadWriter out, ServerCall call, Bytes<?> value, String name) {
        BytesStore<?, ?> store = PayloadWriter.required(value, name).bytesStore();
        if (store instanceof SharedStore shared) {
            writeShared(out, call.share(shared.object()), value);
        } else {
            writeCopy(out, value, name);
        }
    }

    private static void writeShared(PayloadWriter out, long ref, Bytes<?> value) {
        out.writeBoolean(true);
        out.writeRef(ref);
        out.writeInt((int) value.readPosition());
        out.writeInt((int) value.readRemaining());
    }

    private static void writeCopy(PayloadWriter out, Bytes<?> value, String name) {
        out.writeBoolean(false);
        out.writeBytes(value.toByteArray(), name);
    }

    /** For generated code. */
    public static Bytes<?> read(PayloadReader in, ClientCall call) {
        return in.readBoolean() ? view(in, call.shared(SharedBytes.class, in.readRef())) : readCopy(in);
    }

    /** For generated code. */
    public static Bytes<?> read(PayloadReader in, ServerCall call, String name) {
        return in.readBoolean() ? view(in, call.shared(SharedBytes.class, in.readRef(), name)) : readCopy(in);
    }

    static Bytes<?> view(PayloadReader in, SharedBytes memory) {
        int offset = in.readInt();
        int length = in.readInt();
        if (offset < 0 || length < 0 || offset > memory.length() - length) {
            throw new PayloadException(
                    length + " bytes from " + offset + " on, of a Bytes of " + memory.length() + " bytes");
        }
        return new SharedStore(memory).view(offset, length);
    }

    private static Bytes<?> readCopy(PayloadReader in) {
        return SharedStore.shareable(Bytes.wrapForRead(in.readBytes()));
    }
}
