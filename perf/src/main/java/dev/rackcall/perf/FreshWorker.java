package dev.rackcall.perf;

import dev.rackcall.verbs.Access;
import dev.rackcall.verbs.CompletionQueue;
import dev.rackcall.verbs.CompletionQueueSpec;
import dev.rackcall.verbs.Completions;
import dev.rackcall.verbs.Context;
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
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;

/** A worker with a reliable queue pair to each server. */
final class FreshWorker implements ElasticWorker {
    private static final int DEPTH = 16;

    /**
     * A device that is open already. As processes of their own, workers would each have to open it, which takes real devices milliseconds; software
     * devices, whose every connection has buffers of its own, cannot be opened fifty times.
     */
    static final class OpenDevice {
        /** Who uses it; guarded by the class, as what follows. */
        private static int users;

        private static Optional<OpenDevice> opened = Optional.empty();

        private final Context context = BenchDevice.get().open();
        private final BenchDevice.Place place = BenchDevice.Place.of(context);
        private final ProtectionDomain domain = context.allocateProtectionDomain();

        /** The one of this JVM, for one more user. */
        static synchronized OpenDevice use() {
            OpenDevice device = opened.orElseGet(OpenDevice::new);
            opened = Optional.of(device);
            users++;
            return device;
        }

        /** One user less; closed with the last. */
        static synchronized void leave() {
            users--;
            if (users == 0) {
                opened.ifPresent(OpenDevice::close);
                opened = Optional.empty();
            }
        }

        private void close() {
            domain.close();
            context.close();
        }
    }

    private final Deque<AutoCloseable> made = new ArrayDeque<>();
    private final OpenDevice device;
    private final CompletionQueue completions;
    private final MemoryRegion region;
    private final Completions batch = Completions.create(4);

    FreshWorker(OpenDevice device) {
        this.device = device;
        completions = keep(device.context.createCompletionQueue(
                CompletionQueueSpec.of(4 * DEPTH).polledBusily()));
        region = keep(device.domain.register(Arena.ofAuto().allocate(4096, 4096), EnumSet.of(Access.LOCAL_WRITE)));
    }

    private <T extends AutoCloseable> T keep(T child) {
        made.push(child);
        return child;
    }

    static byte[] describe(Gid gid, int number) {
        return ByteBuffer.allocate(Gid.BYTES + Integer.BYTES)
                .putLong(gid.high())
                .putLong(gid.low())
                .putInt(number)
                .array();
    }

    /** A queue pair that its server has been told of. */
    private record Told(QueuePair queuePair, InputStream answer) {}

    /** All servers are told before the first answer is waited for. */
    @Override
    public List<OneSided> connect(List<ElasticServer.Known> servers) throws IOException {
        List<Told> told = new ArrayList<>();
        for (ElasticServer.Known server : servers) {
            told.add(tell(server));
        }
        List<OneSided> ways = new ArrayList<>();
        for (Told each : told) {
            ways.add(way(each.queuePair(), new DataInputStream(each.answer())));
        }
        return ways;
    }

    private Told tell(ElasticServer.Known server) throws IOException {
        Socket socket = keep(new Socket(InetAddress.ofLiteral("127.0.0.1"), server.port()));
        socket.setTcpNoDelay(true);
        QueuePair queuePair = keep(device.domain.createQueuePair(
                QueuePairSpec.of(QueuePairType.RC, completions).withDepth(DEPTH, 1)));
        queuePair.toInit(InitAttributes.connected());
        socket.getOutputStream().write(describe(device.place.gid(), queuePair.number()));
        return new Told(queuePair, socket.getInputStream());
    }

    private OneSided way(QueuePair queuePair, DataInputStream in) throws IOException {
        Gid gid = new Gid(in.readLong(), in.readLong());
        queuePair.toReadyToReceive(ReadyToReceive.from(device.place.pathTo(gid), in.readInt()));
        queuePair.toReadyToSend(ReadyToSend.defaults());
        return new Way(queuePair, in.readLong(), in.readInt());
    }

    private final class Way extends OneSided {
        private final QueuePair queuePair;
        private final long table;
        private final int key;
        private final WorkRequest request = WorkRequest.create(1, 0);

        Way(QueuePair queuePair, long table, int key) {
            super(region.memory());
            this.queuePair = queuePair;
            this.table = table;
            this.key = key;
        }

        @Override
        void read(long tableOffset, int landingOffset, int length) {
            request.read(table + tableOffset, key)
                    .from(region, landingOffset, length)
                    .signaled();
            if (!queuePair.postSend(request)) {
                throw new IllegalStateException("the queue pair has no room for a READ");
            }
        }

        @Override
        int ended() {
            int count = completions.poll(batch);
            for (int i = 0; i < count; i++) {
                if (!batch.isSuccess(i)) {
                    throw new IllegalStateException("a READ ended with " + batch.status(i));
                }
            }
            return count;
        }
    }

    @Override
    public void close() throws Exception {
        while (!made.isEmpty()) {
            made.pop().close();
        }
    }
}
