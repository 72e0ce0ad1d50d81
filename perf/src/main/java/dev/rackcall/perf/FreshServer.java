package dev.rackcall.perf;

import dev.rackcall.verbs.Access;
import dev.rackcall.verbs.CompletionQueue;
import dev.rackcall.verbs.CompletionQueueSpec;
import dev.rackcall.verbs.Context;
import dev.rackcall.verbs.Gid;
import dev.rackcall.verbs.InitAttributes;
import dev.rackcall.verbs.MemoryRegion;
import dev.rackcall.verbs.ProtectionDomain;
import dev.rackcall.verbs.QueuePair;
import dev.rackcall.verbs.QueuePairSpec;
import dev.rackcall.verbs.QueuePairType;
import dev.rackcall.verbs.ReadyToReceive;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A table behind reliable queue pairs: who connects by TCP and says its own gets one, as long as the TCP connection lasts. */
final class FreshServer implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(FreshServer.class);
    private static final int BACKLOG = 256;

    private final Context context = BenchDevice.get().open();
    private final BenchDevice.Place place = BenchDevice.Place.of(context);
    private final ProtectionDomain domain = context.allocateProtectionDomain();
    private final CompletionQueue completions = context.createCompletionQueue(CompletionQueueSpec.of(16));
    private final MemoryRegion region;
    private final ServerSocket socket;
    private final Set<Socket> clients = ConcurrentHashMap.newKeySet();
    private final Set<Thread> threads = ConcurrentHashMap.newKeySet();

    FreshServer(MemorySegment table) throws IOException {
        region = domain.register(table, EnumSet.of(Access.REMOTE_READ));
        socket = new ServerSocket(0, BACKLOG, InetAddress.ofLiteral("127.0.0.1"));
        threads.add(Thread.ofVirtual().start(this::accept));
    }

    int port() {
        return socket.getLocalPort();
    }

    private void accept() {
        try {
            while (true) {
                Socket client = socket.accept();
                clients.add(client);
                threads.add(Thread.ofVirtual().start(() -> serve(client)));
            }
        } catch (SocketException closed) {
            LOG.debug("the server ends: {}", closed.getMessage());
        } catch (IOException e) {
            LOG.error("the server takes no more connections", e);
        }
    }

    private void serve(Socket client) {
        try (client;
                QueuePair queuePair = domain.createQueuePair(
                        QueuePairSpec.of(QueuePairType.RC, completions).withDepth(1, 1))) {
            client.setTcpNoDelay(true);
            DataInputStream in = new DataInputStream(client.getInputStream());
            DataOutputStream out = new DataOutputStream(client.getOutputStream());
            Gid gid = new Gid(in.readLong(), in.readLong());
            int number = in.readInt();
            queuePair.toInit(InitAttributes.connected(EnumSet.of(Access.REMOTE_READ)));
            queuePair.toReadyToReceive(ReadyToReceive.from(place.pathTo(gid), number));
            out.write(FreshWorker.describe(place.gid(), queuePair.number()));
            out.writeLong(region.address());
            out.writeInt(region.remoteKey());
            in.readByte();
        } catch (EOFException gone) {
            LOG.debug("a client has gone");
        } catch (IOException e) {
            LOG.debug("a client has gone: {}", e.getMessage());
        } finally {
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
        domain.close();
        context.close();
    }
}
