package dev.rackcall.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.testkit.Await;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.EnumSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * One end of a test: an open device with a protection domain, memory and a completion queue. Closes what it made in
 * reverse order.
 */
public final class Bench implements AutoCloseable {
    private static final long PATIENCE_NANOS = Await.BOUND.toNanos();
    /**
     * For peers that answer: on a busy machine, a peer may get no processor for longer than the half second of the
     * defaults. Here it is seven.
     */
    public static final ReadyToSend PATIENT = ReadyToSend.defaults().withRetries(18, 6);

    public static final int MEMORY_BYTES = 64 << 10;

    private static final int EAGER_LOOKS = 500;
    private static final long PAUSE_NANOS = 200_000;

    public final Context context;
    public final int gidIndex;
    public final ProtectionDomain domain;
    public final CompletionQueue completions;
    public final MemoryRegion region;
    public final MemorySegment memory;
    private final Completions batch = Completions.create(16);
    private final Deque<AutoCloseable> made = new ArrayDeque<>();

    /** A copy of a completion. */
    public record Done(
            long id,
            CompletionStatus status,
            CompletionOpcode opcode,
            int bytes,
            boolean hasImmediate,
            int immediate,
            int queuePair,
            int source) {}

    public Bench(Device device) {
        this(device, CompletionQueueSpec.of(1024));
    }

    public Bench(Device device, CompletionQueueSpec spec) {
        context = keep(device.open());
        gidIndex = usableGid();
        domain = keep(context.allocateProtectionDomain());
        completions = keep(context.createCompletionQueue(spec));
        memory = Arena.ofAuto().allocate(MEMORY_BYTES, 4096);
        region = register(memory, EnumSet.allOf(Access.class));
    }

    private int usableGid() {
        int length = context.port(1).gidTableLength();
        for (int i = 0; i < length; i++) {
            if (context.gid(1, i).isIpv4()) {
                return i;
            }
        }
        return 0;
    }

    public <T extends AutoCloseable> T keep(T child) {
        made.push(child);
        return child;
    }

    /** Closes it now instead of at the end. */
    public void drop(AutoCloseable child) throws Exception {
        made.remove(child);
        child.close();
    }

    public MemoryRegion register(MemorySegment part, Set<Access> rights) {
        return keep(domain.register(part, rights));
    }

    public Gid gid() {
        return context.gid(1, gidIndex);
    }

    public AddressVector pathTo(Bench other) {
        return AddressVector.of(other.gid(), gidIndex);
    }

    public QueuePair queuePair(QueuePairType type) {
        return queuePair(QueuePairSpec.of(type, completions).withSegments(3));
    }

    public QueuePair queuePair(QueuePairSpec spec) {
        return keep(domain.createQueuePair(spec));
    }

    public void connect(QueuePair own, Bench other, QueuePair peer) {
        connect(own, other, peer, PATIENT, InitAttributes.connected());
    }

    public void connect(QueuePair own, Bench other, QueuePair peer, ReadyToSend patience, InitAttributes init) {
        own.toInit(init);
        own.toReadyToReceive(ReadyToReceive.from(pathTo(other), peer.number())
                .withFirstPacket(peer.number() & 0xFFFF)
                .withRnrTimer(1));
        own.toReadyToSend(patience.withFirstPacket(own.number() & 0xFFFF));
    }

    /** A queue pair that is connected to this one of another device. */
    public QueuePair connectedTo(Gid device, int number, ReadyToSend patience) {
        QueuePair made = queuePair(QueuePairType.RC);
        connect(made, device, number, patience);
        return made;
    }

    public void connect(QueuePair own, Gid device, int number, ReadyToSend patience) {
        own.toInit(InitAttributes.connected());
        own.toReadyToReceive(ReadyToReceive.from(AddressVector.of(device, gidIndex), number));
        own.toReadyToSend(patience);
    }

    /** A UD queue pair with this queue key, ready to send. */
    public QueuePair datagrams(int key) {
        QueuePair made = queuePair(QueuePairType.UD);
        made.toInit(InitAttributes.datagram(key));
        made.toReadyToReceive(ReadyToReceive.unconnected());
        made.toReadyToSend(PATIENT);
        return made;
    }

    /** Makes the request a WRITE to the start of this bench's memory. */
    public WorkRequest write(WorkRequest request) {
        return write(request, 0);
    }

    public WorkRequest write(WorkRequest request, long offset) {
        return request.write(region.address() + offset, region.remoteKey());
    }

    public void fill(long seed) {
        Random random = new Random(seed);
        for (long i = 0; i < memory.byteSize(); i += Long.BYTES) {
            memory.set(ValueLayout.JAVA_LONG, i, random.nextLong());
        }
    }

    public ReceiveRequest receive(long id, long offset, int length) {
        return ReceiveRequest.create(1).start(id).into(region, offset, length);
    }

    /** The next completion; fails if none comes in time. */
    public Done next() {
        return next(completions);
    }

    public Done next(CompletionQueue queue) {
        return next(queue, 1).getFirst();
    }

    public List<Done> next(int count) {
        return next(completions, count);
    }

    public List<Done> next(CompletionQueue queue, int count) {
        List<Done> all = new ArrayList<>();
        long deadline = System.nanoTime() + PATIENCE_NANOS;
        Completions single = Completions.create(1);
        int looks = 0;
        while (all.size() < count) {
            if (queue.poll(single) == 1) {
                all.add(done(single, 0));
                looks = 0;
            } else {
                assertThat(System.nanoTime())
                        .as("%d of %d completions: %s", all.size(), count, all)
                        .isLessThan(deadline);
                pause(++looks);
            }
        }
        return all;
    }

    /** The completions that are there now. */
    public List<Done> now() {
        List<Done> all = new ArrayList<>();
        for (int count = completions.poll(batch); count > 0; count = completions.poll(batch)) {
            for (int i = 0; i < count; i++) {
                all.add(done(batch, i));
            }
        }
        return all;
    }

    private static Done done(Completions from, int i) {
        return new Done(
                from.id(i),
                from.status(i),
                from.opcode(i),
                from.bytes(i),
                from.hasImmediate(i),
                from.immediate(i),
                from.queuePair(i),
                from.sourceQueuePair(i));
    }

    public static void waitUntil(String what, BooleanSupplier condition) {
        Await.until(what, condition);
    }

    /** Most completions come soon. A thread that waits for a silent peer must not take a processor from other tests. */
    private static void pause(int looks) {
        if (looks < EAGER_LOOKS) {
            Thread.yield();
        } else {
            LockSupport.parkNanos(PAUSE_NANOS);
        }
    }

    @Override
    public void close() throws Exception {
        while (!made.isEmpty()) {
            made.pop().close();
        }
    }
}
