package dev.rackcall.perf.elastic;

import dev.rackcall.perf.rdma.RcAddress;
import dev.rackcall.perf.rdma.RcDevice;
import dev.rackcall.verbs.Access;
import dev.rackcall.verbs.CompletionQueue;
import dev.rackcall.verbs.CompletionQueueSpec;
import dev.rackcall.verbs.MemoryRegion;
import dev.rackcall.verbs.QueuePair;
import java.io.DataInputStream;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.net.Socket;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.EnumSet;
import java.util.List;

/** A worker with a reliable queue pair to each server. */
final class FreshWorker implements ElasticWorker {
    private static final int DEPTH = 16;

    /**
     * The device of all workers of this JVM. Workers in separate processes would each have to open it, which takes
     * milliseconds for a real device. A software device cannot be opened fifty times, because each of its connections
     * has its own buffers. It stays open until the process ends.
     */
    private static final class OpenDevice {
        private static final RcDevice DEVICE = RcDevice.open();

        private OpenDevice() {}
    }

    private final RcDevice device = openDevice();
    private final Deque<AutoCloseable> made = new ArrayDeque<>();
    private final CompletionQueue completions =
            keep(device.completions(CompletionQueueSpec.of(4 * DEPTH).polledBusily()));
    private final MemoryRegion region =
            keep(device.register(Arena.ofAuto().allocate(4096, 4096), EnumSet.of(Access.LOCAL_WRITE)));

    /** Opens the device if it is not open yet. */
    static RcDevice openDevice() {
        return OpenDevice.DEVICE;
    }

    private <T extends AutoCloseable> T keep(T child) {
        made.push(child);
        return child;
    }

    /** A queue pair that was announced to its server, and the stream of the answer. */
    private record Told(QueuePair queuePair, DataInputStream answer) {}

    /** All servers are told before the worker waits for the first answer. */
    @Override
    public List<RaceReader> connect(List<ElasticServer.Known> servers) throws IOException {
        List<Told> told = new ArrayList<>();
        for (ElasticServer.Known server : servers) {
            Socket socket = keep(new Socket(InetAddress.ofLiteral("127.0.0.1"), server.port()));
            socket.setTcpNoDelay(true);
            QueuePair queuePair = keep(device.queuePair(completions, DEPTH, 1));
            device.address(queuePair).send(socket.getOutputStream());
            told.add(new Told(queuePair, new DataInputStream(socket.getInputStream())));
        }
        List<RaceReader> readers = new ArrayList<>();
        for (Told each : told) {
            RcAddress peer = RcAddress.receive(each.answer);
            device.connect(each.queuePair, peer);
            readers.add(new RaceReader.OneSided(
                    region, each.queuePair::postSend, completions::poll, () -> "", peer.memory(), peer.key()));
        }
        return readers;
    }

    @Override
    public void close() throws Exception {
        while (!made.isEmpty()) {
            made.pop().close();
        }
    }
}
