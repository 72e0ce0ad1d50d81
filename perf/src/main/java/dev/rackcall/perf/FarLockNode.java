package dev.rackcall.perf;

import dev.rackcall.verbs.Gid;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.concurrent.TimeUnit;

/** A node in another process, perhaps on another host, as its {@link LockDoor} describes it. Paths are to be asked for by one thread. */
final class FarLockNode implements LockHome, AutoCloseable {
    private static final long APPEAR_NANOS = TimeUnit.SECONDS.toNanos(60);
    private static final int ANSWER_MILLIS = 60_000;

    private final Socket socket;
    private final DataInputStream in;
    private final DataOutputStream out;
    private final long address;
    private final int key;
    private final LockNode.Layout layout;

    private FarLockNode(Socket socket) throws IOException {
        this.socket = socket;
        socket.setTcpNoDelay(true);
        socket.setSoTimeout(ANSWER_MILLIS);
        in = new DataInputStream(socket.getInputStream());
        out = new DataOutputStream(socket.getOutputStream());
        address = in.readLong();
        key = in.readInt();
        layout = new LockNode.Layout(in.readInt(), in.readInt(), in.readInt());
    }

    /** Waits a minute for the door to be there. */
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
            out.writeByte(LockDoor.PATH);
            out.write(FreshWorker.describe(own.gid(), path.number()));
            Gid gid = new Gid(in.readLong(), in.readLong());
            own.connect(path, gid, in.readInt());
            return path;
        } catch (IOException e) {
            throw new UncheckedIOException("the other node makes no queue pair", e);
        }
    }

    /** Tells the other process that this one has come as far as {@link LockDoor#await} there waits for. */
    void tell() throws IOException {
        out.writeByte(LockDoor.HERE);
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
