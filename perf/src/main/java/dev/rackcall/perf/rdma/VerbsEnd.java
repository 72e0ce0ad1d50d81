package dev.rackcall.perf.rdma;

import dev.rackcall.perf.harness.ClientSide;
import dev.rackcall.perf.harness.PublishedFile;
import dev.rackcall.verbs.Access;
import dev.rackcall.verbs.CompletionOpcode;
import dev.rackcall.verbs.CompletionQueue;
import dev.rackcall.verbs.CompletionQueueSpec;
import dev.rackcall.verbs.Completions;
import dev.rackcall.verbs.Device;
import dev.rackcall.verbs.Gid;
import dev.rackcall.verbs.MemoryRegion;
import dev.rackcall.verbs.QueuePair;
import dev.rackcall.verbs.ReceiveRequest;
import dev.rackcall.verbs.WorkRequest;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.file.Path;
import java.util.EnumSet;

/**
 * One end of a ping-pong of 64 bytes over the software RDMA device. The message lies at {@link #OUT} here and arrives
 * at {@link #IN} there; its last word is a number. Confined to one thread.
 */
final class VerbsEnd implements AutoCloseable {
    static final int MESSAGE_BYTES = 64;
    private static final long IN = 0;
    private static final long OUT = 1024;
    private static final long NUMBER = MESSAGE_BYTES - Long.BYTES;
    private static final int DEPTH = 128;
    /** One request in this many is signaled, which frees its places in the send queue. */
    private static final int SIGNAL_EVERY = 32;

    private static final VarHandle WORD = ValueLayout.JAVA_LONG.varHandle();

    private final boolean writes;
    private final RcDevice device;
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
        this.device = new RcDevice(device);
        completions = this.device.completions(CompletionQueueSpec.of(4 * DEPTH).polledBusily());
        region = this.device.register(Arena.global().allocate(4096, 4096), EnumSet.allOf(Access.class));
        queuePair = this.device.queuePair(completions, DEPTH, DEPTH);
        receive.start(0).into(region, IN, MESSAGE_BYTES);
        for (int i = 0; i < DEPTH; i++) {
            require(queuePair.postReceive(receive), "room for a receive request");
        }
    }

    /** Tells the other end about this one. */
    void announce(Path file) throws IOException {
        RcAddress own = device.address(queuePair, region);
        PublishedFile.publish(file, own.gid() + " " + own.number() + " " + own.memory() + " " + own.key());
    }

    /** Connects to the other end when it has announced itself. */
    void connect(Path file) throws IOException, InterruptedException {
        String[] words = PublishedFile.await(file).split(" ");
        peerAddress = Long.parseLong(words[2]);
        peerKey = Integer.parseInt(words[3]);
        device.connect(queuePair, new RcAddress(Gid.parse(words[0]), Integer.parseInt(words[1]), peerAddress, peerKey));
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
     * Waits for a place in the send queue. The peer's message shows that it received ours, but not that the
     * acknowledgement of ours has arrived here: both travel on their own connections. One connection may be hundreds of
     * messages behind the other, as when the device's thread lost its processor.
     */
    private void awaitRoom(WorkRequest message) {
        long since = System.nanoTime();
        do {
            require(System.nanoTime() - since < ClientSide.CALL_BOUND_NANOS, "room for a send request within 10 s");
            takeCompletions();
        } while (!queuePair.postSend(message));
    }

    /** Polls once. Returns the number of the newest message that has arrived. */
    long poll() {
        takeCompletions();
        // Pairs with the device's release of a WRITE's last word.
        return writes ? (long) WORD.getAcquire(region.memory(), IN + NUMBER) : received;
    }

    private void takeCompletions() {
        int count = completions.poll(batch);
        for (int i = 0; i < count; i++) {
            // The message is built only if it is needed: polling allocates nothing.
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

    @Override
    public void close() {
        queuePair.close();
        region.close();
        completions.close();
        device.close();
    }
}
