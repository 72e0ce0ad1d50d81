package dev.rackcall.perf.alock;

import dev.rackcall.perf.rdma.RcAddress;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.concurrent.TimeUnit;

/**
 * A node in another process, perhaps on another host, as its {@link LockDoor} describes it. Only one thread may request
 * paths.
 */
final class FarLockNode implements LockSite, AutoCloseable {
    private static final long APPEAR_NANOS = TimeUnit.SECONDS.toNanos(60);
    private static final int ANSWER_MILLIS = 60_000;

    private final Socket socket;
    private final DataInputStream in;
    private final OutputStream out;
    private final long address;
    private final int key;
    private final LockNode.Layout layout;

    private FarLockNode(Socket socket) throws IOException {
        this.socket = socket;
        socket.setTcpNoDelay(true);
        socket.setSoTimeout(ANSWER_MILLIS);
        in = new DataInputStream(socket.getInputStream());
        out = socket.getOutputStream();
        address = in.readLong();
        key = in.readInt();
        layout = new LockNode.Layout(in.readInt(), in.readInt(), in.readInt());
    }

    /** Connects; the door must open within a minute. */
    static FarLockNode dial(InetSocketAddress door) throws IOException, InterruptedException {
        long begin = System.nanoTime();
        while (true) {
            Socket socket = new Socket();
            try {
                socket.connect(door, ANSWER_MILLIS);
                return new FarLockNode(socket);
            } catch (IOException e) {
                socket.close();
                if (System.nanoTime() - begin > APPEAR_NANOS) {
                    throw new IOException("no other node at " + door + " within 60 s: " + e.getMessage(), e);
                }
                Thread.sleep(50);
            }
        }
    }

    @Override
    public int locks() {
        return layout.locks();
    }

    @Override
    public long word(int index) {
        return address + layout.word(index);
    }

    @Override
    public long thread(int thread) {
        return address + layout.thread(thread);
    }

    @Override
    public LockPath pathFrom(LockNode own) {
        try {
            LockPath path = own.newPath(address, key);
            out.write(LockDoor.PATH);
            path.address().send(out);
            path.connect(RcAddress.receive(in));
            return path;
        } catch (IOException e) {
            throw new UncheckedIOException("the other node makes no queue pair", e);
        }
    }

    /**
     * Reports that this process has reached its next point, for which the other process waits in {@link
     * LockDoor#await}.
     */
    void report() throws IOException {
        out.write(LockDoor.HERE);
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
