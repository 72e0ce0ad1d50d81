package dev.rackcall.rpc.shm;

import dev.rackcall.rpc.CallObserver;
import dev.rackcall.rpc.Isolation;
import dev.rackcall.rpc.Metadata;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.runtime.KryoCodec;
import dev.rackcall.rpc.spi.ClientCall;
import dev.rackcall.rpc.spi.ClientConnection;
import dev.rackcall.rpc.spi.ClientSpec;
import dev.rackcall.rpc.spi.MethodDescriptor;
import dev.rackcall.rpc.spi.ServiceDefinition;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.SharedObject;
import dev.rackcall.shm.os.Futex;
import dev.rackcall.shm.waiting.WaitStrategy;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The client's end of a connection: hands out slots in turn, publishes requests, rings when the server does not watch.
 *
 * <p>A slot's turn comes with a ticket. Ticket {@code t} belongs to slot {@code t mod n} and may be taken once the server has taken request
 * {@code t - n}: from that moment the slot's previous holder is known to have marked it busy or free for good, so that one look at the slot's
 * state decides, and one compare-and-set per call is enough for any number of threads.
 */
final class ShmClientConnection extends ClientConnection {
    private static final VarHandle TAIL;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            TAIL = lookup.findVarHandle(ShmClientConnection.class, "tail", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** Polls between two looks at what changes rarely: the clock, the peer's life. A power of two. */
    private static final int SPINS_PER_CHECK = 1024;

    /** While the server is being woken: as long as that takes where it has a core of its own, then its turn on this one. */
    private static final WaitStrategy WAKING = new WaitStrategy(1_000, 20);

    private static final int CORES = Runtime.getRuntime().availableProcessors();

    /** Threads of this process that wait for longer than a few microseconds. */
    private static final AtomicInteger SPINNING = new AtomicInteger();

    final ClientLink link;
    final ClientMemory arenas;
    final MemorySegment memory;
    final ClientSpec spec;
    final AsyncCalls async;
    final ControlQueue controls = new ControlQueue(this);

    private final ShmClientCall[] slots;
    private final int mask;
    private final long defaultTimeoutNanos;
    private final int firstSpins;

    /** False once the connection has ended. */
    private volatile boolean open = true;

    /** False once the connection has ended or the server drains. */
    private volatile boolean usable = true;

    @SuppressWarnings("unused") // TAIL
    private volatile long tail;

    ShmClientConnection(ClientLink link, ClientSpec spec) {
        this.link = link;
        this.arenas = link.arenas();
        this.memory = arenas.memory();
        this.spec = spec;
        this.mask = link.slots() - 1;
        this.defaultTimeoutNanos = spec.defaultTimeout().toNanos();
        this.firstSpins = Math.min(SPINS_PER_CHECK, spec.waiting().spins());
        this.slots = new ShmClientCall[link.slots()];
        for (int i = 0; i < slots.length; i++) {
            slots[i] = new ShmClientCall(this, i);
        }
        this.async = new AsyncCalls(this, slots);
    }

    @Override
    public ClientCall begin(
            MethodDescriptor method, long deadline, Metadata headers, Isolation isolation, CallObserver observer) {
        ShmClientCall call = claim(deadline);
        call.begin(method, deadline, headers, isolation, observer);
        return call;
    }

    /**
     * Takes the next free slot; waits for one, up to the deadline, if all are taken. In the common case the slot's last call had the ticket one
     * lap before and has ended, which says all there is to know.
     */
    ShmClientCall claim(long deadline) {
        long ticket = (long) TAIL.getAcquire(this);
        ShmClientCall call = slots[(int) ticket & mask];
        if (call.wasLeftBy(ticket - mask - 1) && TAIL.compareAndSet(this, ticket, ticket + 1)) {
            call.occupy(ticket);
            if (open) {
                return call;
            }
            call.release();
            throw link.failure();
        }
        return claimSlowly(deadline);
    }

    private ShmClientCall claimSlowly(long deadline) {
        passOverOwn();
        SpinWait wait = new SpinWait(spec.waiting(), deadline, defaultTimeoutNanos);
        while (true) {
            ShmClientCall call = tryClaim();
            if (call != null) {
                return call;
            }
            async.poll();
            awaitRoom(wait);
        }
    }

    /** The next free slot; null if there is none, or if the server is a whole lap behind. */
    ShmClientCall tryClaim() {
        int skipped = 0;
        while (skipped <= mask) {
            if (!open) {
                throw link.failure();
            }
            long ticket = (long) TAIL.getAcquire(this);
            ShmClientCall call = slots[(int) ticket & mask];
            if (!call.wasLeftBy(ticket - mask - 1) && !hasRoom(ticket)) {
                return null;
            }
            if (!call.isBusy() || call.reapIfAnswered()) {
                if (TAIL.compareAndSet(this, ticket, ticket + 1)) {
                    call.occupy(ticket);
                    if (open) {
                        return call;
                    }
                    call.release();
                }
            } else if (TAIL.compareAndSet(this, ticket, ticket + 1)) {
                // An earlier call still occupies the slot: tell the server to pass over it and try the next one.
                skip(call, ticket);
                skipped++;
            }
        }
        return null;
    }

    void skip(ShmClientCall call, long ticket) {
        try {
            publish(call.slot, SlotLayout.word(ticket, 0, SlotLayout.SKIP, 0));
        } catch (IllegalStateException e) {
            rethrowIfOpen(e);
        }
    }

    private void awaitRoom(SpinWait wait) {
        if (!wait.once()) {
            int busy = 0;
            for (ShmClientCall call : slots) {
                busy += call.isBusy() ? 1 : 0;
            }
            throw Status.Code.RESOURCE_EXHAUSTED
                    .with(
                            "channel %s: all %d slots were taken until the deadline (%d calls under way);"
                                    + " make fewer calls at once, or open the channel with more slots",
                            spec.channel(), slots.length, busy)
                    .asException();
        }
    }

    /** Whether the server has taken the request one lap before {@code ticket}, so that the slot's word may be written again. */
    private boolean hasRoom(long ticket) {
        try {
            return ticket - Math.min(ControlLayout.consumed(memory), ticket) <= mask;
        } catch (IllegalStateException e) {
            return rethrowIfOpen(e);
        }
    }

    /** For whoever looks at the memory without a slot that keeps it mapped: false, if that is because the connection has ended. */
    boolean rethrowIfOpen(IllegalStateException thrown) {
        if (open) {
            throw thrown;
        }
        return false;
    }

    /** Makes the request half of {@code slot} visible to the server and wakes it if it does not watch. */
    void publish(long slot, long word) {
        SlotLayout.publishRequest(memory, slot, word);
        // Between our request and our look at `watched`; the server fences between clearing `watched` and its last look
        // at the slot.
        VarHandle.fullFence();
        if (!ControlLayout.isWatched(memory)) {
            link.ring();
        }
    }

    /** Waits for the response to {@code call} on the calling thread; returns its word. */
    long await(ShmClientCall call) {
        long ticket = call.ticket();
        long slot = call.slot;
        MemorySegment local = memory;
        for (int i = firstSpins; i >= 0; i--) {
            long word = SlotLayout.responseWord(local, slot);
            if (SlotLayout.isOf(word, ticket)) {
                return word;
            }
            Thread.onSpinWait();
        }
        return awaitSlowly(call, ticket);
    }

    private long awaitSlowly(ShmClientCall call, long ticket) {
        passOverOwn();
        int others = SPINNING.getAndIncrement();
        try {
            return awaitSlowly(call, ticket, new SpinWait(strategy(others), call.deadline, defaultTimeoutNanos));
        } finally {
            SPINNING.getAndDecrement();
        }
    }

    /** How to wait for what did not come at once, if so many threads of this process already do. */
    private WaitStrategy strategy(int others) {
        WaitStrategy asked = spec.waiting();
        if (!asked.sleeps()) {
            return asked;
        }
        if (others >= CORES - 1) {
            // More spinning threads than cores only keep each other, and the server, from running.
            return WaitStrategy.blocking();
        }
        // A server that still does not poll is being woken, and may need this very core for that.
        return asked.spins() <= WAKING.spins() || ControlLayout.isWatched(memory) ? asked : WAKING;
    }

    private long awaitSlowly(ShmClientCall call, long ticket, SpinWait wait) {
        boolean inTime = true;
        while (true) {
            long word = SlotLayout.responseWord(memory, call.slot);
            // A server that died after it had answered did answer; but what comes after we closed is only the echo of
            // that.
            if (SlotLayout.isOf(word, ticket) && (open || !link.isClosedHere())) {
                return word;
            }
            if (!open) {
                throw call.lost(link.failure());
            }
            if (!inTime) {
                throw call.timedOut();
            }
            inTime = wait.maySleep() ? sleep(call, ticket, wait) : wait.once();
        }
    }

    private boolean sleep(ShmClientCall call, long ticket, SpinWait wait) {
        if (Thread.currentThread().isVirtual()) {
            return async.park(call, wait);
        }
        ControlLayout.addSleeper(memory, 1);
        try {
            // Volatile add above, then this look: the server publishes, fences and then looks at the sleepers.
            long seen = SlotLayout.responseWord(memory, call.slot);
            return SlotLayout.isOf(seen, ticket)
                    || wait.sleep(memory, call.slot + SlotLayout.RESPONSE_WORD, (int) seen);
        } finally {
            ControlLayout.addSleeper(memory, -1);
        }
    }

    /** Gives back a slot whose call was not sent: the server passes over it. */
    void withdraw(ShmClientCall call) {
        if (!call.isPassedOver()) {
            publish(call.slot, SlotLayout.word(call.ticket(), 0, SlotLayout.SKIP, 0));
        }
        call.releaseUntaken();
    }

    /** To be called by a thread before it waits: it may be in the middle of encoding another call's arguments, and the server at that slot. */
    void passOverOwn() {
        long thread = Thread.currentThread().threadId();
        for (ShmClientCall call : slots) {
            call.passOverIfEncoding(thread);
        }
    }

    /** Waits for the next turn of the slot of a call that was passed over, and takes it. Other slots' turns on the way stay unused. */
    void claimAgain(ShmClientCall wanted) {
        SpinWait wait = new SpinWait(spec.waiting(), wanted.deadline, defaultTimeoutNanos);
        while (true) {
            if (!open) {
                throw wanted.lost(link.failure());
            }
            long ticket = (long) TAIL.getAcquire(this);
            ShmClientCall call = slots[(int) ticket & mask];
            if (call == wanted ? !hasRoom(ticket) : !call.wasLeftBy(ticket - mask - 1) && !hasRoom(ticket)) {
                async.poll();
                awaitRoom(wait);
            } else if (TAIL.compareAndSet(this, ticket, ticket + 1)) {
                if (call == wanted) {
                    call.occupy(ticket);
                    return;
                }
                passOver(call, ticket);
            }
        }
    }

    /** Leaves the turn {@code ticket}, which this thread has, unused. */
    private void passOver(ShmClientCall call, long ticket) {
        if (call.isBusy() && !call.reapIfAnswered()) {
            skip(call, ticket);
        } else {
            call.occupy(ticket);
            skip(call, ticket);
            call.releaseUntaken();
        }
    }

    /** Tells the server that nobody waits for the call with that ticket any more. */
    void cancel(long ticket) {
        control(ControlOp.CANCEL, ticket);
    }

    /** Sends a control request that nobody waits for, now or as soon as there is room; the end of the connection does the same to all. */
    void control(int op, long operand) {
        controls.send(op, operand);
    }

    /**
     * Has the server join the session in which a holder has this side's seals.
     *
     * @throws dev.rackcall.rpc.RpcException if it cannot
     */
    void enforceSeals(long sessionHigh, long sessionLow, Duration bound) {
        long deadline = System.nanoTime() + bound.toNanos();
        ShmClientCall call = claim(deadline);
        try {
            call.callJoin(sessionHigh, sessionLow, deadline);
        } finally {
            call.close();
        }
    }

    @Override
    public boolean isUsable() {
        return usable;
    }

    @Override
    public Scope newScope(long firstBytes) {
        return arenas.newScope(firstBytes);
    }

    @Override
    public Scope newSharedScope(long firstBytes) {
        return arenas.newSharedScope(firstBytes);
    }

    @Override
    public void use(ServiceDefinition<?> definition) {
        link.objects().use(KryoCodec.of(definition.registered()));
    }

    @Override
    public void release(Object result) {
        long ref = SharedObject.refOf(result);
        if (arenas.isReply(result, ref)) {
            control(ControlOp.RELEASE, ref);
        }
    }

    @Override
    public String serviceName() {
        return link.welcome().serviceName();
    }

    @Override
    public long fingerprint() {
        return link.welcome().fingerprint();
    }

    @Override
    public String description() {
        return link.welcome().description();
    }

    boolean isOpen() {
        return open;
    }

    /** The server rang: it has answers for whom nobody spins, or it drains. */
    void rung() {
        if (open && link.isRungAlways() && ControlLayout.hasSleepers(memory)) {
            wakeAll();
        }
        if (open && ControlLayout.state(memory) != ControlLayout.STATE_OPEN) {
            usable = false;
        }
    }

    /** The link has ended, for a reason that it now knows. */
    void ended() {
        usable = false;
        open = false;
        // Between saying that it is over and looking for calls that wait; a sender marks its call, fences, and then
        // looks
        // whether it is over.
        VarHandle.fullFence();
        async.loseAll();
        wakeAll();
    }

    /** The connection has ended: wakes every caller that sleeps, so that it sees so. */
    private void wakeAll() {
        for (ShmClientCall call : slots) {
            Futex.wake(memory, call.slot + SlotLayout.RESPONSE_WORD, Integer.MAX_VALUE);
        }
    }

    /** Whether no call uses the connection's memory any more. */
    boolean isQuiet() {
        for (ShmClientCall call : slots) {
            if (call.usesMemory()) {
                return false;
            }
        }
        return true;
    }

    @Override
    public void close() {
        link.close(Status.Code.CANCELLED.with("channel %s was closed here", spec.channel()));
    }
}
