package dev.rackcall.rpc.shm.client;

import dev.rackcall.rpc.Route;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.shm.protocol.Bell;
import dev.rackcall.rpc.shm.protocol.ControlLayout;
import dev.rackcall.rpc.shm.protocol.Handshake;
import dev.rackcall.rpc.shm.protocol.MirroringBell;
import dev.rackcall.shm.os.socket.EventPoll;
import dev.rackcall.shm.waiting.SpinTime;
import java.lang.invoke.VarHandle;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * The client's half of a connection: the bell that proves the server's life, and the memory and arenas that both sides
 * map. Thread-safe.
 *
 * <p>The memory outlives every thread that uses it: {@link #close} only marks the end, and the last user unmaps.
 */
public final class ClientEnd {
    /** The connection that uses this end. */
    interface Owner {
        /** The calls that no caller polls for. */
        ClientReactor.Polled polled();

        /** The server rang: it has answers that no thread spins for, or it drains. */
        void rung();

        /** The connection has ended; this end already holds the reason. */
        void ended();

        /** Whether no call uses the connection's memory any more. */
        boolean isQuiet();
    }

    private final Bell bell;
    private final ClientMemory arenas;
    private final Handshake.ServerHello serverHello;
    private final String channel;
    private final Route.Kind transport;
    private final boolean isRungAlways;
    private final Runnable onUnmapped;
    private final AtomicBoolean unmapped = new AtomicBoolean();
    private final ClientReactor reactor = ClientReactor.shared();

    /** Null in shared memory. */
    private final MirroringBell mirror;

    private final boolean movedByProcess;

    private Owner owner;
    private long tag;
    private volatile Status end;
    /** Whether the thread that ended the connection has notified all callers and no longer uses the memory. */
    private volatile boolean settled;

    public ClientEnd(
            Bell bell, ClientMemory arenas, Handshake.ServerHello serverHello, String channel, Route.Kind transport) {
        this(bell, arenas, serverHello, channel, transport, false, () -> {});
    }

    /**
     * The end of a connection whose server cannot wake this process's threads.
     *
     * @param isRungAlways whether the server rings after all its answers, and this side then wakes its sleeping threads
     * @param onUnmapped called when this side no longer uses the memory, before it closes the memory's files
     */
    public ClientEnd(
            Bell bell,
            ClientMemory arenas,
            Handshake.ServerHello serverHello,
            String channel,
            Route.Kind transport,
            boolean isRungAlways,
            Runnable onUnmapped) {
        this.transport = transport;
        this.isRungAlways = isRungAlways;
        this.onUnmapped = onUnmapped;
        this.bell = bell;
        this.mirror = bell instanceof MirroringBell mirrored ? mirrored : null;
        this.movedByProcess = mirror != null && mirror.isMovedByProcess();
        this.arenas = arenas;
        this.serverHello = serverHello;
        this.channel = channel;
    }

    /** Unmaps an end that was never used. The caller keeps its files and its bell. */
    public void discard() {
        unmapped.set(true);
        arenas.discard();
        onUnmapped.run();
    }

    /** Begins to watch the server's life on behalf of {@code connection}. */
    public void start(Owner connection) {
        owner = connection;
        if (isRungAlways) {
            // Never withdrawn: to the server the reactor is always asleep, so it always rings.
            ControlLayout.reactorAsleep(arenas.memory(), true);
        }
        tag = reactor.add(this, connection.polled());
    }

    public ClientMemory arenas() {
        return arenas;
    }

    /** How calls reach the server. */
    Route.Kind transport() {
        return transport;
    }

    int slots() {
        return serverHello.slots();
    }

    public Handshake.ServerHello serverHello() {
        return serverHello;
    }

    ClientReactor reactor() {
        return reactor;
    }

    /** As {@link Bell#watch}. */
    boolean watch(EventPoll poll, long tag) {
        return bell.watch(poll, tag);
    }

    /** As {@link Bell#unwatch}. */
    void unwatch(EventPoll poll) {
        bell.unwatch(poll);
    }

    /** Wakes a server that does not poll this connection. */
    void ring() {
        if (!bell.ring()) {
            close(lostStatus());
        }
    }

    /** Carries what was published to a server that has memory of its own. */
    void push() {
        if (!mirror.push()) {
            close(lostStatus());
        }
    }

    /** Cancels the call with that ticket over the bell; returns false if that was not possible. */
    boolean ringCancelled(long ticket) {
        return bell.tell(ticket);
    }

    /** Whether this side wakes its own sleeping threads when the server rings. */
    boolean isRungAlways() {
        return isRungAlways;
    }

    /** Whether the server has memory of its own, so that spinning threads have to {@link #look} for answers. */
    boolean isMirrored() {
        return mirror != null;
    }

    /** A new record of the time to an answer. A thread reads a pool's bells, as it polls a device. */
    SpinTime newAnswerTime() {
        return hasServerOnThisHost() ? SpinTime.ofMemory() : SpinTime.ofDevice();
    }

    /** Whether the server's processor, as it says, is one of this host's. */
    boolean hasServerOnThisHost() {
        return !isMirrored() && !isRungAlways;
    }

    /** Whether the server's poller last ran on that processor of this host. */
    boolean hasServerOn(int processor) {
        try {
            return hasServerOnThisHost() && isOpen() && ControlLayout.processor(arenas.memory()) == processor;
        } catch (IllegalStateException e) {
            // Unmapped since the check above.
            assert !isOpen();
            return false;
        }
    }

    /** Takes in what has arrived. Called by spinning threads; does nothing in shared memory. */
    void look() {
        if (mirror != null) {
            mirror.look();
        }
    }

    /**
     * Whether the calling thread should yield while it spins for an answer: another process moves the answer, and may
     * need this processor. A virtual thread cannot let another process run.
     */
    boolean yieldsToProcess() {
        return movedByProcess && !Thread.currentThread().isVirtual();
    }

    /**
     * Makes the server's next answer wake this side. Called by a thread about to sleep, before its last check of the
     * memory.
     */
    void listen() {
        if (mirror != null) {
            mirror.listen();
        }
    }

    void announceSleep(boolean asleep) {
        if (asleep) {
            listen();
        }
        if (isOpen() && !isRungAlways) {
            try {
                ControlLayout.reactorAsleep(arenas.memory(), asleep);
            } catch (IllegalStateException e) {
                // Unmapped since the check above: there is no server to tell.
                assert !isOpen();
            }
        }
    }

    // ---- the end

    boolean isOpen() {
        return end == null;
    }

    /** Whether this side ended the connection. Only once the connection is not open. */
    boolean isClosedHere() {
        return end.code() == Status.Code.CANCELLED;
    }

    /** Why the connection ended. Only once it is not open. */
    RpcException failure() {
        return end.asException();
    }

    /** The cause of the end, if the carrier can tell it. Only once the connection is not open. */
    Optional<Status> endCause() {
        return mirror == null ? Optional.empty() : mirror.endCause();
    }

    private Status lostStatus() {
        Optional<String> cause = endCause().map(Status::description);
        return Status.Code.UNAVAILABLE.with(
                "channel %s: %s; the call may or may not have run. The next call reconnects",
                channel, cause.map(why -> "its connection has ended: " + why).orElse("its server is gone"));
    }

    /** The reactor saw the bell readable: rings, or the end. */
    void readable() {
        // Servers send no numbers.
        if (bell.drain(number -> {}) < 0) {
            close(lostStatus());
        } else {
            owner.rung();
        }
    }

    /** Ends the connection: every call in flight ends with {@code status}. */
    void close(Status status) {
        synchronized (this) {
            if (end != null) {
                return;
            }
            try {
                if (status.code() != Status.Code.CANCELLED) {
                    // Recorded before the channel's state changes.
                    ConnectionEvents.lost(channel, transport, status);
                }
            } finally {
                end = status;
            }
        }
        try {
            arenas.end(status);
            reactor.remove(tag);
            // Before the server can notice the end: it then cancels the calls and answers them, and those answers must
            // not reach the callers.
            owner.ended();
        } finally {
            hangUp();
        }
    }

    private void hangUp() {
        bell.close();
        // Closing any shared arena makes every thread pass a handshake. From here on each thread has either marked its
        // slot or sees the end.
        java.lang.foreign.Arena.ofShared().close();
        settled = true;
        memoryReleased();
    }

    /** A slot was released after the end: unmaps the memory once no thread uses it. */
    void memoryReleased() {
        // Orders the release of the caller's own slot before its check of `settled` and of the other slots. If two
        // threads leave at the same time, at least one sees that the other has left.
        VarHandle.fullFence();
        if (settled && owner.isQuiet() && unmapped.compareAndSet(false, true)) {
            arenas.close(onUnmapped);
        }
    }
}
