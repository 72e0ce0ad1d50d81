package dev.rackcall.perf;

import dev.rackcall.verbs.Gid;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Where one other process finds a node of this one: it hears how its memory is laid out, gets queue pairs that lead there, and says how far it has come. */
final class LockDoor implements AutoCloseable {
    static final int PATH = 1;
    static final int HERE = 2;

    private static final Logger LOG = LoggerFactory.getLogger(LockDoor.class);
    private static final long PATIENCE_SECONDS = 120;

    private final LockNode node;
    private final ServerSocket socket;
    private final Semaphore here = new Semaphore(0);

    private LockDoor(LockNode node, ServerSocket socket) {
        this.node = node;
        this.socket = socket;
    }

    static LockDoor open(LockNode node, int port) throws IOException {
        LockDoor door = new LockDoor(node, new ServerSocket(port));
        Thread.ofPlatform().daemon().name("lock-door").start(door::serve);
        return door;
    }

    int port() {
        return socket.getLocalPort();
    }

    private void serve() {
        try (Socket client = socket.accept()) {
            client.setTcpNoDelay(true);
            DataInputStream in = new DataInputStream(client.getInputStream());
            DataOutputStream out = new DataOutputStream(client.getOutputStream());
            node.describe(out);
            while (true) {
                if (in.readByte() == HERE) {
                    here.release();
                } else {
                    Gid gid = new Gid(in.readLong(), in.readLong());
                    out.write(FreshWorker.describe(node.gid(), node.accept(gid, in.readInt())));
                }
            }
        } catch (EOFException | SocketException gone) {
            LOG.debug("the other node has gone: {}", gone.getMessage());
        } catch (IOException | RuntimeException e) {
            LOG.error("the other node is served no more", e);
        }
    }

    /** Waits until the other process has come here as often as this was called. */
    void await() throws InterruptedException {
        if (!here.tryAcquire(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
            throw new BenchFailure("the other node has not come as far within " + PATIENCE_SECONDS + " s");
        }
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
