package dev.rackcall.rpc.shm.pool;

import dev.rackcall.rpc.Peer;
import dev.rackcall.rpc.shm.protocol.ControlLayout;
import dev.rackcall.rpc.shm.protocol.Handshake;
import dev.rackcall.shm.pool.PoolCommons;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/**
 * A client's hello at a {@link PoolDoor} and the server's answer: the two packets of the {@link Handshake}, and where
 * the connection's memory lies. The client's host owns this memory; the client frees it once the hello is answered or
 * withdrawn.
 *
 * <pre>
 *     0  answered   1 once the answer is whole                          server
 *     8  host, pid, uid, gid (4 each), boot (8)                         client
 *    32  bytes of the ClientHello (4)                                   client
 *    36  bytes of the ServerHello (4)                                   server
 *    40  place and bytes (8 each) of the connection's window, then of the shared arena's
 *    96  ClientHello                                                    client
 *  4096  ServerHello                                                    server
 * </pre>
 */
final class PoolHandshake {
    /** A ServerHello has two texts of at most 30,000 bytes, and numbers. */
    static final long BYTES = 4096 + (64 << 10);

    private static final long ANSWERED = 0;
    private static final long HOST = 8;
    private static final long PID = 12;
    private static final long UID = 16;
    private static final long GID = 20;
    private static final long BOOT = 24;
    private static final long HELLO_BYTES = 32;
    private static final long WELCOME_BYTES = 36;
    private static final long WINDOW = 40;
    private static final long SHARED = 56;
    private static final long HELLO = 96;
    private static final long WELCOME = 4096;

    private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();

    private final MemorySegment memory;

    private PoolHandshake(MemorySegment memory) {
        this.memory = memory;
    }

    /** Memory that lies in the pool. */
    record Window(long place, long bytes) {
        static final Window NONE = new Window(0, 0);
    }

    /** The handshake at a place that another process wrote. */
    static PoolHandshake at(PoolCommons pool, long place) throws Handshake.MalformedException {
        if (place <= 0 || place > pool.memory().byteSize() - BYTES || place % ControlLayout.PAGE != 0) {
            throw new Handshake.MalformedException("there is no handshake at " + place);
        }
        return new PoolHandshake(pool.memory().asSlice(place, BYTES));
    }

    // ---- the client's side

    /** Writes a hello into memory that this process has taken. */
    static PoolHandshake ask(PoolCommons pool, long place, byte[] hello, Peer self) {
        PoolHandshake knock = new PoolHandshake(pool.memory().asSlice(place, BYTES));
        MemorySegment memory = knock.memory;
        memory.set(ValueLayout.JAVA_LONG, ANSWERED, 0);
        memory.set(ValueLayout.JAVA_INT, HOST, pool.host());
        memory.set(ValueLayout.JAVA_INT, PID, self.pid());
        memory.set(ValueLayout.JAVA_INT, UID, self.uid());
        memory.set(ValueLayout.JAVA_INT, GID, self.gid());
        memory.set(ValueLayout.JAVA_LONG, BOOT, pool.boot().bits());
        memory.set(ValueLayout.JAVA_INT, HELLO_BYTES, hello.length);
        MemorySegment.copy(hello, 0, memory, ValueLayout.JAVA_BYTE, HELLO, hello.length);
        return knock;
    }

    boolean isAnswered() {
        // Acquire: pairs with the release in answer.
        return (long) LONG.getAcquire(memory, ANSWERED) == 1;
    }

    byte[] serverHello() throws Handshake.MalformedException {
        return bytes(WELCOME, memory.get(ValueLayout.JAVA_INT, WELCOME_BYTES), BYTES - WELCOME);
    }

    Window window() {
        return window(WINDOW);
    }

    Window shared() {
        return window(SHARED);
    }

    private Window window(long at) {
        return new Window(memory.get(ValueLayout.JAVA_LONG, at), memory.get(ValueLayout.JAVA_LONG, at + Long.BYTES));
    }

    // ---- the server's side

    byte[] hello() throws Handshake.MalformedException {
        return bytes(HELLO, memory.get(ValueLayout.JAVA_INT, HELLO_BYTES), WELCOME - HELLO);
    }

    /** The client as it describes itself: this host's kernel cannot report processes of other hosts. */
    Peer peer() {
        return new Peer(
                memory.get(ValueLayout.JAVA_INT, PID),
                memory.get(ValueLayout.JAVA_INT, UID),
                memory.get(ValueLayout.JAVA_INT, GID));
    }

    int host() {
        return memory.get(ValueLayout.JAVA_INT, HOST);
    }

    long boot() {
        return memory.get(ValueLayout.JAVA_LONG, BOOT);
    }

    /** From here on the handshake's memory is the client's again. */
    void answer(byte[] serverHello, Window window, Window shared) {
        memory.set(ValueLayout.JAVA_INT, WELCOME_BYTES, serverHello.length);
        MemorySegment.copy(serverHello, 0, memory, ValueLayout.JAVA_BYTE, WELCOME, serverHello.length);
        set(WINDOW, window);
        set(SHARED, shared);
        // Release: pairs with the acquire in isAnswered.
        LONG.setRelease(memory, ANSWERED, 1L);
    }

    private void set(long at, Window window) {
        memory.set(ValueLayout.JAVA_LONG, at, window.place());
        memory.set(ValueLayout.JAVA_LONG, at + Long.BYTES, window.bytes());
    }

    private byte[] bytes(long at, int length, long most) throws Handshake.MalformedException {
        if (length < 0 || length > most) {
            throw new Handshake.MalformedException("a packet of " + length + " bytes; there is room for " + most);
        }
        return memory.asSlice(at, length).toArray(ValueLayout.JAVA_BYTE);
    }
}
