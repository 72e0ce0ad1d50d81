package dev.rackcall.rpc.balance;

import dev.rackcall.rpc.MethodDescriptor;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.spi.ClientCall;
import dev.rackcall.shm.RefException;
import dev.rackcall.shm.codec.ObjectCodec;
import dev.rackcall.shm.codec.PayloadWriter;
import dev.rackcall.shm.types.SharedObject;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The arguments of a {@link RoutedCall}, encoded into private memory so that they can be sent twice. Also finds the
 * subchannel whose memory holds the shared objects.
 */
final class RoutedArguments {
    private static final long KEPT_BYTES = 64 << 10;

    private final PayloadWriter writer = PayloadWriter.create(PayloadWriter.PRIVATE);
    private final List<Object> shared = new ArrayList<>();
    private final List<String> sharedNames = new ArrayList<>();
    private MemorySegment memory = MemorySegment.NULL;
    private boolean encoding;
    private Optional<Subchannel> bound = Optional.empty();

    PayloadWriter writer(ObjectCodec objects) {
        if (!encoding) {
            encoding = true;
            writer.objects(objects);
            writer.begin(memory);
        }
        return writer;
    }

    /**
     * Adds an object that is passed by pointer.
     *
     * @return its Ref; 0 if no subchannel maps it, a problem that is reported when the call is sent
     */
    long share(Object sharedObject, String argument, Balancer routes, MethodDescriptor method) {
        shared.add(sharedObject);
        sharedNames.add(argument);
        try {
            Optional<Subchannel> owner = routes.subchannelOf(sharedObject);
            if (owner.isPresent()) {
                bind(owner.get(), sharedObject, argument, method);
                return SharedObject.liveRefOf(sharedObject);
            }
        } catch (RefException | IllegalArgumentException | IllegalStateException e) {
            return 0;
        }
        return 0;
    }

    private void bind(Subchannel owner, Object sharedObject, String argument, MethodDescriptor method)
            throws RpcException {
        if (bound.isEmpty()) {
            bound = Optional.of(owner);
        }
        Subchannel first = bound.get();
        // Several subchannels to one server map the channel's shared arena.
        if (first != owner && !first.connection().maps(sharedObject)) {
            throw Status.Code.INVALID_ARGUMENT
                    .with(
                            "%s: argument '%s' lies in the memory of %s, and an earlier argument in that of %s; build all of them in one"
                                    + " channel.newScope()",
                            method, argument, owner, first)
                    .asException();
        }
    }

    /** The subchannel whose memory holds the arguments; empty if any will do. */
    Optional<Subchannel> bound() {
        return bound;
    }

    /** How many bytes they take, encoded. */
    long bytes() {
        return encoding ? writer.length() : 0;
    }

    void handOver(ClientCall call) {
        if (encoding) {
            call.arguments().append(writer);
        }
        for (int i = 0; i < shared.size(); i++) {
            call.share(shared.get(i), sharedNames.get(i));
        }
    }

    /** Clears everything but the memory for the next call. */
    void clear() {
        if (encoding && writer.buffer().byteSize() <= KEPT_BYTES) {
            memory = writer.buffer();
        }
        encoding = false;
        bound = Optional.empty();
        shared.clear();
        sharedNames.clear();
    }
}
