package dev.rackcall.rdma.queue;

import dev.rackcall.cp.Arrivals;
import dev.rackcall.cp.ControlPlaneException;
import dev.rackcall.cp.ControlPlaneException.Kind;
import dev.rackcall.cp.HostId;
import dev.rackcall.cp.MessagePort;
import dev.rackcall.cp.Tenant;
import dev.rackcall.verbs.Access;
import dev.rackcall.verbs.MemoryRegion;
import java.nio.ByteBuffer;
import java.security.SecureRandom;
import java.util.BitSet;
import java.util.EnumSet;

/** A port with memory for some messages at a time. Used by one thread, except {@link #close}. */
final class QueueInbox implements AutoCloseable {
    /** The maximum number of messages taken at a time. */
    static final int PIECES = 8;

    private static final int PIECE_BYTES = 100 << 10;
    /** Lower ports are for users to choose. */
    private static final int FIRST_RANDOM = 1 << 16;

    private static final int TRIES = 16;
    private static final SecureRandom RANDOM = new SecureRandom();

    static {
        assert PIECE_BYTES >= QueueHello.MAX_BYTES;
    }

    private final MessagePort port;
    private final PassingMemory memory;
    private final MemoryRegion region;
    private final Arrivals arrivals = Arrivals.create(PIECES);
    /** Empty pieces that could not be given to the port, because the ring to an agent process was full. */
    private final BitSet spare = new BitSet();

    /** Handles a message; the buffer is invalid afterwards. */
    @FunctionalInterface
    interface Taker {
        void take(HostId from, ByteBuffer message);
    }

    private QueueInbox(MessagePort port, PassingMemory memory) {
        this.port = port;
        this.memory = memory;
        region = memory.region();
    }

    /**
     * Binds a port.
     *
     * @param number 0 for any free one
     * @param arrival runs when a message has arrived, on a thread that must not block
     * @throws ControlPlaneException as {@link Tenant#bind(int, Runnable)} and {@link PassingMemory#make}
     */
    static QueueInbox bind(Tenant tenant, int number, Runnable arrival) {
        MessagePort port = number == 0 ? bindAny(tenant, arrival) : tenant.bind(number, arrival);
        PassingMemory memory = null;
        try {
            memory = PassingMemory.make(
                    tenant, "rackcall-inbox", (long) PIECES * PIECE_BYTES, EnumSet.of(Access.LOCAL_WRITE));
            QueueInbox made = new QueueInbox(port, memory);
            made.spare.set(0, PIECES);
            made.give();
            return made;
        } catch (RuntimeException | Error e) {
            port.close();
            if (memory != null) {
                memory.close();
            }
            throw e;
        }
    }

    private static MessagePort bindAny(Tenant tenant, Runnable arrival) {
        for (int i = 1; ; i++) {
            try {
                return tenant.bind(RANDOM.nextInt(FIRST_RANDOM, Integer.MAX_VALUE), arrival);
            } catch (ControlPlaneException e) {
                if (e.kind() != Kind.REFUSED || i == TRIES) {
                    throw e;
                }
            }
        }
    }

    /** Gives the port the spare pieces. */
    private void give() {
        for (int piece = spare.nextSetBit(0); piece >= 0; piece = spare.nextSetBit(piece + 1)) {
            if (!port.give(region, (long) piece * PIECE_BYTES, PIECE_BYTES, piece)) {
                return;
            }
            spare.clear(piece);
        }
    }

    /** Whether the port has no memory at all. It then reports no arrivals, and the caller must check again soon. */
    boolean isDry() {
        return spare.cardinality() == PIECES;
    }

    int number() {
        return port.number();
    }

    /**
     * Takes the messages that have arrived.
     *
     * @return how many messages
     * @throws ControlPlaneException QUEUE_FAILED if the port, its tenant or its agent was closed
     */
    int take(Taker taker) {
        // Before anything else, so that a closed port fails as documented.
        int count = port.receive(arrivals);
        for (int i = 0; i < count; i++) {
            // All taken pieces are spare now, even if handling a message fails.
            spare.set((int) arrivals.id(i));
        }
        for (int i = 0; i < count; i++) {
            ByteBuffer message = region.memory()
                    .asSlice(arrivals.id(i) * PIECE_BYTES, arrivals.bytes(i))
                    .asByteBuffer();
            taker.take(arrivals.host(i), message);
        }
        give();
        return count;
    }

    @Override
    public void close() {
        port.close();
        memory.close();
    }
}
