package dev.rackcall.perf.alock;

import dev.rackcall.perf.harness.BenchFailure;
import dev.rackcall.perf.rdma.RcAddress;
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

/**
 * Lets one other process use a node of this one. That process gets the layout of the node's memory and queue pairs to
 * it, and reports its progress.
 */
final class LockDoor implements AutoCloseable {
    static final int PATH = 1;
    static final int HERE = 2;
    private static final Logger LOG = LoggerFactory.getLogger(LockDoor.class);
    private static final long PATIENCE_SECONDS = 120;

    private final LockNode node;
    private final ServerSocket socket;
    private final Semaphore here = new Semaphore(0);

    LockDoor(LockNode node, int port) throws IOException {
        this.node = node;
        this.socket = new ServerSocket(port);
        Thread.ofPlatform().daemon().name("lock-door").start(this::serve);
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
                    node.accept(RcAddress.receive(in)).send(out);
                }
            }
        } catch (EOFException | SocketException gone) {
            LOG.debug("the other node has closed its connection: {}", gone.getMessage());
        } catch (IOException | RuntimeException e) {
            LOG.error("the other node is no longer served", e);
        }
    }

    /** Waits for the other process: the nth call returns once that process has reported n times. */
    void await() throws InterruptedException {
        if (!here.tryAcquire(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
            throw new BenchFailure("the other node has not reached this point within " + PATIENCE_SECONDS + " s");
        }
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
