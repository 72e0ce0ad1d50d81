package dev.rackcall.perf.rdma;

import dev.rackcall.verbs.Access;
import dev.rackcall.verbs.CompletionQueue;
import dev.rackcall.verbs.CompletionQueueSpec;
import dev.rackcall.verbs.MemoryRegion;
import dev.rackcall.verbs.QueuePair;
import java.io.DataInputStream;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Memory behind reliable queue pairs. A client connects by TCP and sends the {@link RcAddress} of its queue pair; it
 * gets that of one of the server's, as often as it sends. The server closes a client's queue pair when the client asks
 * for the next one or closes the TCP connection.
 */
public final class RcServer implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(RcServer.class);
    private static final int BACKLOG = 256;

    /** The process that connects. */
    public enum Clients {
        /** A few, each of which connects again and again; both ends can send. */
        FEW(16, true),
        /** Hundreds, each of which connects once and only reads. */
        MANY(1, false);

        private final int depth;
        private final boolean sends;

        Clients(int depth, boolean sends) {
            this.depth = depth;
            this.sends = sends;
        }
    }

    private final Clients kind;
    private final RcDevice device = RcDevice.open();
    private final CompletionQueue completions;
    private final MemoryRegion region;
    private final ServerSocket socket;
    private final Set<Socket> clients = ConcurrentHashMap.newKeySet();
    private final Set<Thread> threads = ConcurrentHashMap.newKeySet();

    /** Serves {@code memory} at a free port of the loopback interface. */
    public RcServer(MemorySegment memory, Clients kind) throws IOException {
        this.kind = kind;
        CompletionQueueSpec spec = CompletionQueueSpec.of(64);
        completions = device.completions(kind.sends ? spec.polledBusily() : spec);
        region = device.register(memory, EnumSet.of(Access.REMOTE_READ));
        socket = new ServerSocket(0, BACKLOG, InetAddress.ofLiteral("127.0.0.1"));
        start(this::accept);
    }

    private void start(Runnable action) {
        Thread thread = kind == Clients.MANY
                ? Thread.ofVirtual().unstarted(action)
                : Thread.ofPlatform().daemon().name("rc-server").unstarted(action);
        threads.add(thread);
        thread.start();
    }

    /** The TCP port. */
    public int port() {
        return socket.getLocalPort();
    }

    private void accept() {
        try {
            while (true) {
                Socket client = socket.accept();
                clients.add(client);
                start(() -> serve(client));
            }
        } catch (SocketException closed) {
            LOG.debug("the server ends: {}", closed.getMessage());
        } catch (IOException e) {
            LOG.error("the server accepts no more connections", e);
        }
    }

    private void serve(Socket client) {
        Deque<QueuePair> made = new ArrayDeque<>();
        try (client) {
            client.setTcpNoDelay(true);
            DataInputStream in = new DataInputStream(client.getInputStream());
            while (true) {
                RcAddress peer = RcAddress.receive(in);
                made.push(device.queuePair(completions, kind.depth, kind.depth));
                if (kind.sends) {
                    device.connect(made.getFirst(), peer);
                } else {
                    device.receive(made.getFirst(), peer);
                }
                device.address(made.getFirst(), region).send(client.getOutputStream());
                // The client does not wait for the end of the last one.
                while (made.size() > 1) {
                    made.removeLast().close();
                }
            }
        } catch (IOException e) {
            LOG.debug("a client has closed its connection: {}", e.toString());
        } finally {
            made.forEach(QueuePair::close);
            clients.remove(client);
            threads.remove(Thread.currentThread());
        }
    }

    @Override
    public void close() {
        try {
            socket.close();
            for (Socket client : clients) {
                client.close();
            }
            for (Thread thread : threads) {
                thread.join();
            }
        } catch (IOException e) {
            LOG.debug("closing: {}", e.getMessage());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        region.close();
        completions.close();
        device.close();
    }
}
