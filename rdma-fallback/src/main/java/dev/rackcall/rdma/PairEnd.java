package dev.rackcall.rdma;

import dev.rackcall.rdma.end.EndMemory;
import dev.rackcall.rdma.end.ForeignPeerException;
import dev.rackcall.rdma.end.Hello;
import dev.rackcall.rdma.end.PeerMemory;
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
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.security.SecureRandom;
import java.util.EnumSet;

/**
 * The device's objects of one end: its queue pair and its queues, and later its registered memory. Closed by {@link
 * PairCarrier}, or by {@link #discard} if there is none yet.
 */
final class PairEnd extends EndMemory {
    /** Places of the send queue. */
    static final int SENDS = 256;
    /** Receive requests in addition to those for publications: each told number arrives by a SEND. */
    private static final int NUMBERS = 16;

    private static final SecureRandom RANDOM = new SecureRandom();
    /**
     * The verbs code for 0.54 s, and the number of tries: a peer that stops for some seconds must not count as gone.
     */
    private static final int ACK_TIMEOUT = 17;

    private static final int ACK_TRIES = 6;

    final CompletionQueue sends;
    final CompletionQueue receives;
    /** Nothing completes here: a thread that polls it moves the traffic of a software device. */
    final CompletionQueue looks;

    final QueuePair queuePair;
    final RdmaDevice device;
    private final ProtectionDomain domain;
    private final int depth;
    // Written before other threads know this end.
    MemorySegment memory;
    MemoryRegion region;
    /** A word for each receive request, where told numbers arrive. */
    MemorySegment notices;

    MemoryRegion noticeRegion;

    private final int firstPacket = RANDOM.nextInt(1 << 24);

    /**
     * An end without memory, on an acquired device.
     *
     * @throws VerbsException if the device refuses
     */
    PairEnd(RdmaDevice device, int publications) {
        this.device = device;
        this.depth = publications + NUMBERS;
        try {
            // A domain of this end's own: the keys of other connections are not valid in it.
            domain = keep(device.context().allocateProtectionDomain());
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
            super.close();
            throw e;
        }
    }

    /**
     * Registers the connection's memory, before the carrier is opened.
     *
     * @throws VerbsException if the device refuses
     */
    void register(MemorySegment mapped) {
        memory = mapped;
        region = keep(domain.register(mapped, PEER));
        notices = keep(Arena.ofShared()).allocate((long) depth * Long.BYTES, Long.BYTES);
        noticeRegion = keep(domain.register(notices, EnumSet.of(Access.LOCAL_WRITE)));
    }

    /** A word of this end that the peer writes to prove itself. */
    MemoryRegion makeProof() {
        return keep(domain.register(keep(Arena.ofShared()).allocate(ValueLayout.JAVA_LONG), PEER));
    }

    /** How many receive requests there are to post. */
    int depth() {
        return depth;
    }

    PairHello hello(ByteBuffer packet) {
        return hello(region, packet);
    }

    /** A hello that names another part of this end's memory. */
    PairHello hello(MemoryRegion named, ByteBuffer packet) {
        PeerMemory mine = new PeerMemory(
                named.address(), named.remoteKey(), named.memory().byteSize());
        return new PairHello(device.gid(), queuePair.number(), firstPacket, Hello.now(mine, packet));
    }

    void connect(PairHello peer) throws ForeignPeerException {
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
        if (isClosed()) {
            throw new VerbsException("registering " + file, VerbsErrno.EINVAL, "its connection is closed");
        }
        Mapping mapping = keep(file.map());
        return keep(domain.register(mapping.memory(), EnumSet.of(Access.LOCAL_WRITE)));
    }

    /** After {@link #registerNoMore}, or before other threads know this end. */
    void close() {
        close(queuePair);
    }

    /** Closes an end without a carrier, and releases its device. */
    void discard() {
        close();
        device.release();
    }
}
