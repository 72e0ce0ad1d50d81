package dev.rackcall.perf;

import dev.rackcall.verbs.Access;
import dev.rackcall.verbs.AddressVector;
import dev.rackcall.verbs.CompletionOpcode;
import dev.rackcall.verbs.CompletionQueue;
import dev.rackcall.verbs.CompletionQueueSpec;
import dev.rackcall.verbs.Completions;
import dev.rackcall.verbs.Context;
import dev.rackcall.verbs.Device;
import dev.rackcall.verbs.Gid;
import dev.rackcall.verbs.InitAttributes;
import dev.rackcall.verbs.MemoryRegion;
import dev.rackcall.verbs.ProtectionDomain;
import dev.rackcall.verbs.QueuePair;
import dev.rackcall.verbs.QueuePairSpec;
import dev.rackcall.verbs.QueuePairType;
import dev.rackcall.verbs.ReadyToReceive;
import dev.rackcall.verbs.ReadyToSend;
import dev.rackcall.verbs.ReceiveRequest;
import dev.rackcall.verbs.WorkRequest;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.EnumSet;

/**
 * One end of a ping-pong of 64 bytes over the software RDMA device. The message lies at {@link #OUT} here and arrives at {@link #IN} there; its
 * last word is a number. Confined to one thread.
 */
final class VerbsEnd implements AutoCloseable {
    static final int MESSAGE_BYTES = 64;
    private static final long IN = 0;
    private static final long OUT = 1024;
    private static final long NUMBER = MESSAGE_BYTES - Long.BYTES;
    private static final int DEPTH = 128;
    /** Every so often a request is signaled, which gives its places in the send queue back. */
    private static final int SIGNAL_EVERY = 32;

    private static final long CONNECT_NANOS = 30_000_000_000L;
    private static final VarHandle WORD = ValueLayout.JAVA_LONG.varHandle();

    private final boolean writes;
    private final Context context;
    private final ProtectionDomain domain;
    private final CompletionQueue completions;
    private final MemoryRegion region;
    private final QueuePair queuePair;
    private final WorkRequest request = WorkRequest.create(1, 0);
    private final ReceiveRequest receive = ReceiveRequest.create(1);
    private final Completions batch = Completions.create(16);
    private long peerAddress;
    private int peerKey;
    private long sent;
    private long received;

    /** @param writes by WRITE into the peer's memory instead of SEND */
    VerbsEnd(Device device, boolean writes) {
        this.writes = writes;
        context = device.open();
        domain = context.allocateProtectionDomain();
        completions =
                context.createCompletionQueue(CompletionQueueSpec.of(4 * DEPTH).polledBusily());
        region = domain.register(Arena.global().allocate(4096, 4096), EnumSet.allOf(Access.class));
        queuePair = domain.createQueuePair(
                QueuePairSpec.of(QueuePairType.RC, completions).withDepth(DEPTH, DEPTH));
        queuePair.toInit(InitAttributes.connected());
        receive.start(0).into(region, IN, MESSAGE_BYTES);
        for (int i = 0; i < DEPTH; i++) {
            require(queuePair.postReceive(receive), "room for a receive request");
        }
    }

    /** Tells the other end about this one by a file that appears whole. */
    void announce(Path file) throws IOException {
        Path draft = file.resolveSibling(file.getFileName() + ".draft");
        Files.writeString(
                draft,
                context.gid(1, 0) + " " + queuePair.number() + " " + region.address() + " " + region.remoteKey());
        Files.move(draft, file, StandardCopyOption.ATOMIC_MOVE);
    }

    /** Connects if the other end has announced itself. */
    boolean connect(Path file) throws IOException {
        if (!Files.exists(file)) {
            return false;
        }
        String[] words = Files.readString(file).split(" ");
        AddressVector path = AddressVector.of(Gid.parse(words[0]), 0);
        queuePair.toReadyToReceive(ReadyToReceive.from(path, Integer.parseInt(words[1])));
        queuePair.toReadyToSend(ReadyToSend.defaults());
        peerAddress = Long.parseLong(words[2]);
        peerKey = Integer.parseInt(words[3]);
        return true;
    }

    void connectSoon(Path file) throws IOException, InterruptedException {
        await(file);
        require(connect(file), "the other end");
    }

    /** Waits for a file that says that the other end is so far. */
    static void await(Path file) throws InterruptedException {
        long start = System.nanoTime();
        while (!Files.exists(file)) {
            require(System.nanoTime() - start < CONNECT_NANOS, "the other end within 30 s");
            Thread.sleep(1);
        }
    }

    void send(long number) {
        WORD.setRelease(region.memory(), OUT + NUMBER, number);
        WorkRequest message = writes ? request.write(peerAddress + IN, peerKey) : request.send();
        message.from(region, OUT, MESSAGE_BYTES);
        if (++sent % SIGNAL_EVERY == 0) {
            message.signaled();
        }
        if (!queuePair.postSend(message)) {
            awaitRoom(message);
        }
    }

    /**
     * A message of the peer's says that it has seen what was sent, but not that its device's acknowledgement of that is here: they come by two connections, and one
     * may stand still for hundreds of messages while the other does not, as when the device's thread lost its processor with it in hand.
     */
    private void awaitRoom(WorkRequest message) {
        long since = System.nanoTime();
        do {
            require(System.nanoTime() - since < ClientSide.CALL_BOUND_NANOS, "room for a send request within 10 s");
            takeCompletions();
        } while (!queuePair.postSend(message));
    }

    /** Looks once. Returns the number of the newest message that has arrived. */
    long poll() {
        takeCompletions();
        // Pairs with the device's release of a WRITE's last word.
        return writes ? (long) WORD.getAcquire(region.memory(), IN + NUMBER) : received;
    }

    private void takeCompletions() {
        int count = completions.poll(batch);
        for (int i = 0; i < count; i++) {
            // The words are put together only if they are needed: polling allocates nothing.
            if (!batch.isSuccess(i)) {
                throw new IllegalStateException("a request of the ping-pong ended with " + batch.status(i));
            }
            if (batch.opcode(i) == CompletionOpcode.RECEIVE) {
                received = (long) WORD.getAcquire(region.memory(), IN + NUMBER);
                require(queuePair.postReceive(receive), "room for a receive request");
            }
        }
    }

    private static void require(boolean condition, String what) {
        if (!condition) {
            throw new IllegalStateException("ping-pong over verbs misses " + what);
        }
    }

    static String settings(boolean writes) {
        return "RC queue pairs of the software RDMA device over loopback TCP, 64 bytes each way by "
                + (writes ? "WRITE into memory that the other side polls" : "SEND") + ", both sides poll busily";
    }

    @Override
    public void close() {
        queuePair.close();
        region.close();
        completions.close();
        domain.close();
        context.close();
    }
}
