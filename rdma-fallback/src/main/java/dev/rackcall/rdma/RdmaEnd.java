package dev.rackcall.rdma;

import dev.rackcall.rdma.sending.ConnectionMemory;
import dev.rackcall.shm.os.file.Mapping;
import dev.rackcall.shm.os.file.SharedFile;
import dev.rackcall.verbs.Access;
import dev.rackcall.verbs.AddressVector;
import dev.rackcall.verbs.CompletionQueue;
import dev.rackcall.verbs.CompletionQueueSpec;
import dev.rackcall.verbs.InitAttributes;
import dev.rackcall.verbs.MemoryRegion;
import dev.rackcall.verbs.ProtectionDomain;
import dev.rackcall.verbs.QueuePair;
import dev.rackcall.verbs.QueuePairSpec;
import dev.rackcall.verbs.QueuePairType;
import dev.rackcall.verbs.ReadyToReceive;
import dev.rackcall.verbs.ReadyToSend;
import dev.rackcall.verbs.VerbsErrno;
import dev.rackcall.verbs.VerbsException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.security.SecureRandom;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.EnumSet;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What one end of a connection has of the device: its queue pair, its queues, and its memory as the device knows it. Closed by {@link RdmaCarrier}. */
final class RdmaEnd implements ConnectionMemory {
    /** Places of the send queue. */
    static final int SENDS = 256;
    /** Receive requests on top of those for publications: a SEND for each number that is told. */
    private static final int NUMBERS = 16;

    private static final Logger LOG = LoggerFactory.getLogger(RdmaEnd.class);
    private static final SecureRandom RANDOM = new SecureRandom();
    /** Code of 0.54 s, and tries: a peer that is stopped for some seconds is only slow. */
    private static final int ACK_TIMEOUT = 17;

    private static final int ACK_TRIES = 6;
    /** What the peer may do: push, and fetch. There is nothing in the memory that is not meant for it. */
    private static final Set<Access> PEER = EnumSet.of(Access.LOCAL_WRITE, Access.REMOTE_WRITE, Access.REMOTE_READ);

    final MemorySegment memory;
    final MemoryRegion region;
    final CompletionQueue sends;
    final CompletionQueue receives;
    /** Nothing ever completes here: who polls it lets a software device move its traffic on the polling thread. */
    final CompletionQueue looks;

    final QueuePair queuePair;
    /** A word for each receive request, where numbers that are told arrive. */
    final MemorySegment notices;

    final MemoryRegion noticeRegion;

    final RdmaDevice device;
    private final Deque<AutoCloseable> made = new ArrayDeque<>();
    private final ProtectionDomain domain;
    private final int firstPacket = RANDOM.nextInt(1 << 24);
    /** Guarded by the monitor, as what is made. */
    private boolean closed;

    /** @throws VerbsException if the device refuses */
    RdmaEnd(RdmaDevice device, MemorySegment memory, int publications) {
        this.device = device;
        this.memory = memory;
        int depth = publications + NUMBERS;
        try {
            // Its own, so that the keys of other connections are worth nothing here.
            domain = keep(device.context().allocateProtectionDomain());
            region = keep(domain.register(memory, PEER));
            Arena arena = keep(Arena.ofShared());
            notices = arena.allocate((long) depth * Long.BYTES, Long.BYTES);
            noticeRegion = keep(domain.register(notices, EnumSet.of(Access.LOCAL_WRITE)));
            sends = keep(device.context().createCompletionQueue(CompletionQueueSpec.of(SENDS)));
            receives = keep(device.context()
                    .createCompletionQueue(CompletionQueueSpec.of(depth).on(device.channel())));
            looks = keep(device.context()
                    .createCompletionQueue(CompletionQueueSpec.of(1).polledBusily()));
            queuePair = keep(domain.createQueuePair(QueuePairSpec.of(QueuePairType.RC, sends)
                    .withReceiveQueue(receives)
                    .withDepth(SENDS, depth)
                    .withInline(Long.BYTES)));
            queuePair.toInit(InitAttributes.connected(PEER));
        } catch (RuntimeException | Error e) {
            closeParts();
            throw e;
        }
    }

    private <T extends AutoCloseable> T keep(T part) {
        made.push(part);
        return part;
    }

    /** How many receive requests there are to post. */
    int depth() {
        return (int) (notices.byteSize() / Long.BYTES);
    }

    PeerGreeting greeting(ByteBuffer packet) {
        return new PeerGreeting(
                device.gid(),
                queuePair.number(),
                firstPacket,
                region.address(),
                region.remoteKey(),
                memory.byteSize(),
                System.nanoTime(),
                packet);
    }

    void connect(PeerGreeting peer) throws ForeignPeerException {
        try {
            AddressVector path = AddressVector.of(peer.gid(), device.gidIndex());
            queuePair.toReadyToReceive(
                    ReadyToReceive.from(path, peer.queuePair()).withFirstPacket(peer.firstPacket()));
            queuePair.toReadyToSend(
                    ReadyToSend.defaults().withFirstPacket(firstPacket).withRetries(ACK_TIMEOUT, ACK_TRIES));
        } catch (VerbsException e) {
            throw new ForeignPeerException("its queue pair cannot be reached by "
                    + device.context().device().name() + ": " + e.getMessage());
        }
    }

    @Override
    public MemoryRegion region() {
        return region;
    }

    @Override
    public synchronized MemoryRegion own(SharedFile file) {
        if (closed) {
            throw new VerbsException("registering " + file, VerbsErrno.EINVAL, "its connection is closed");
        }
        Mapping mapping = keep(file.map());
        return keep(domain.register(mapping.memory(), EnumSet.of(Access.LOCAL_WRITE)));
    }

    /** Nothing is registered any more. Waits for who does. */
    synchronized void registerNoMore() {
        closed = true;
    }

    /** The queue pair first, before the memory that it reads from. After {@link #registerNoMore}, or before anybody else knows of this. */
    void close() {
        queuePair.close();
        made.remove(queuePair);
        closeParts();
    }

    /** In the reverse order of their making. */
    private void closeParts() {
        while (!made.isEmpty()) {
            try {
                made.pop().close();
            } catch (Exception e) {
                LOG.warn("a part of a connection over RDMA cannot be closed: {}", e.toString());
            }
        }
    }
}
