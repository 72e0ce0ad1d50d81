package dev.rackcall.perf.connect;

import dev.rackcall.perf.harness.ClientSide;
import dev.rackcall.perf.rdma.RcAddress;
import dev.rackcall.perf.rdma.RcDevice;
import dev.rackcall.perf.rdma.RcServer;
import dev.rackcall.verbs.Access;
import dev.rackcall.verbs.CompletionQueue;
import dev.rackcall.verbs.CompletionQueueSpec;
import dev.rackcall.verbs.Completions;
import dev.rackcall.verbs.MemoryRegion;
import dev.rackcall.verbs.QueuePair;
import dev.rackcall.verbs.WorkRequest;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.net.Socket;
import java.util.EnumSet;

/** A client of an {@link RcServer} that connects and closes a queue pair in each call, over one TCP connection. */
class FreshQueuePairs implements ClientSide {
    private static final int READ_BYTES = 512;
    private static final int DEPTH = 16;

    private final RcDevice device = RcDevice.open();
    private final CompletionQueue completions =
            device.completions(CompletionQueueSpec.of(4 * DEPTH).polledBusily());
    private final MemoryRegion region =
            device.register(Arena.global().allocate(4096, 4096), EnumSet.allOf(Access.class));
    private final WorkRequest request = WorkRequest.create(1, 0);
    private final Completions batch = Completions.create(4);
    private final Socket socket;
    private final DataInputStream in;
    private final OutputStream out;
    private QueuePair queuePair;
    private RcAddress peer;

    FreshQueuePairs(int port) throws IOException {
        socket = new Socket(InetAddress.ofLiteral("127.0.0.1"), port);
        socket.setTcpNoDelay(true);
        in = new DataInputStream(socket.getInputStream());
        out = socket.getOutputStream();
    }

    final void connect() {
        try {
            queuePair = device.queuePair(completions, DEPTH, DEPTH);
            device.address(queuePair).send(out);
            peer = RcAddress.receive(in);
            device.connect(queuePair, peer);
        } catch (IOException e) {
            throw new UncheckedIOException("the server side has closed the connection", e);
        }
    }

    @Override
    public void call(long sequence) {
        connect();
        queuePair.close();
    }

    static void requireSuccess(Completions batch, long number) {
        if (!batch.isSuccess(0) || batch.id(0) != number) {
            throw new IllegalStateException("READ " + number + " ended with " + batch.status(0));
        }
    }

    /** READs half as many bytes as a lookup in the meta table, over one queue pair. */
    static final class Reads extends FreshQueuePairs {
        Reads(int port) throws IOException {
            super(port);
            connect();
        }

        @Override
        public void call(long sequence) {
            super.read(sequence);
        }
    }

    private void read(long number) {
        request.read(peer.memory(), peer.key())
                .from(region, 0, READ_BYTES)
                .id(number)
                .signaled();
        queuePair.postSend(request);
        long start = System.nanoTime();
        while (completions.poll(batch) == 0) {
            if (System.nanoTime() - start > CALL_BOUND_NANOS) {
                throw new IllegalStateException("a READ has not completed within 10 s");
            }
        }
        requireSuccess(batch, number);
    }

    @Override
    public void close() {
        if (queuePair != null) {
            queuePair.close();
        }
        region.close();
        completions.close();
        device.close();
        try {
            socket.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
