package dev.rackcall.rack.guest;

import dev.rackcall.verbs.Access;
import dev.rackcall.verbs.AddressVector;
import dev.rackcall.verbs.CompletionQueue;
import dev.rackcall.verbs.CompletionQueueSpec;
import dev.rackcall.verbs.CompletionStatus;
import dev.rackcall.verbs.Completions;
import dev.rackcall.verbs.Context;
import dev.rackcall.verbs.Devices;
import dev.rackcall.verbs.Gid;
import dev.rackcall.verbs.InitAttributes;
import dev.rackcall.verbs.MemoryRegion;
import dev.rackcall.verbs.ProtectionDomain;
import dev.rackcall.verbs.QueuePair;
import dev.rackcall.verbs.QueuePairSpec;
import dev.rackcall.verbs.QueuePairType;
import dev.rackcall.verbs.ReadyToReceive;
import dev.rackcall.verbs.ReadyToSend;
import dev.rackcall.verbs.WorkRequest;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;

/** One end of a reliable connection over {@code rxe0}, with one region of memory. */
final class RdmaEnd implements AutoCloseable {
    static final String DEVICE = "rxe0";

    private final Deque<AutoCloseable> made = new ArrayDeque<>();
    private final Context context;
    private final CompletionQueue completions;
    private final MemoryRegion region;
    private final QueuePair queuePair;
    private final int gidIndex;
    private final int firstPacket = ThreadLocalRandom.current().nextInt(1 << 24);
    private final Completions batch = Completions.create(1);
    private Peer peer = new Peer(Gid.NONE, 0, 0, 0, 0);

    /** The description that the ends exchange. */
    private record Peer(Gid gid, int queuePair, int firstPacket, long address, int key) {
        static Peer parse(String text) {
            String[] words = text.split(" ", 6);
            return new Peer(
                    new Gid(Long.parseLong(words[0]), Long.parseLong(words[1])),
                    Integer.parseInt(words[2]),
                    Integer.parseInt(words[3]),
                    Long.parseLong(words[4]),
                    Integer.parseInt(words[5]));
        }
    }

    private RdmaEnd(MemorySegment memory, Set<Access> rights) {
        context = keep(Devices.find(DEVICE).open());
        ProtectionDomain domain = keep(context.allocateProtectionDomain());
        completions = keep(context.createCompletionQueue(CompletionQueueSpec.of(16)));
        region = keep(domain.register(memory, rights));
        queuePair = keep(domain.createQueuePair(QueuePairSpec.of(QueuePairType.RC, completions)));
        int index = 0;
        while (!context.gid(1, index).isIpv4()) {
            index++;
        }
        gidIndex = index;
    }

    /** An end whose memory the peer may access with these rights. */
    static RdmaEnd open(MemorySegment memory, Set<Access> rights) {
        return new RdmaEnd(memory, rights);
    }

    private <T extends AutoCloseable> T keep(T child) {
        made.push(child);
        return child;
    }

    /** For the other end's {@link #connect}. */
    String describe() {
        Gid gid = context.gid(1, gidIndex);
        return gid.high() + " " + gid.low() + " " + queuePair.number() + " " + firstPacket + " " + region.address()
                + " " + region.remoteKey();
    }

    void connect(String description) {
        peer = Peer.parse(description);
        queuePair.toInit(InitAttributes.connected());
        queuePair.toReadyToReceive(ReadyToReceive.from(AddressVector.of(peer.gid(), gidIndex), peer.queuePair())
                .withFirstPacket(peer.firstPacket()));
        queuePair.toReadyToSend(
                ReadyToSend.defaults().withFirstPacket(firstPacket).withRetries(18, 6));
    }

    MemoryRegion region() {
        return region;
    }

    WorkRequest write(WorkRequest request, long offset) {
        return request.write(peer.address() + offset, peer.key());
    }

    WorkRequest read(WorkRequest request, long offset) {
        return request.read(peer.address() + offset, peer.key());
    }

    WorkRequest add(WorkRequest request, long offset, long addend) {
        return request.fetchAndAdd(peer.address() + offset, peer.key(), addend);
    }

    /** Posts a request and waits until it completes with that status. */
    void run(WorkRequest request, CompletionStatus wanted) {
        Guest.require(queuePair.postSend(request.signaled()), "the send queue is full");
        Guest.await("a request does not complete", () -> completions.poll(batch) == 1);
        Guest.require(batch.status(0) == wanted, "a request ended with " + batch.status(0) + ", not " + wanted);
    }

    @Override
    public void close() throws Exception {
        while (!made.isEmpty()) {
            made.pop().close();
        }
    }
}
