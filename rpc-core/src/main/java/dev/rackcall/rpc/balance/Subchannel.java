package dev.rackcall.rpc.balance;

import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.schema.Adaptation;
import dev.rackcall.rpc.spi.ClientConnection;
import dev.rackcall.rpc.spi.ServiceDefinition;
import dev.rackcall.shm.Scope;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;

/** A channel's connection to one of its servers, with the record of its calls. Thread-safe. */
public class Subchannel {
    /** Failures in a row after which other subchannels are preferred. */
    public static final int FAILURES = 5;

    private static final long FIRST_EJECTION_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final int MOST_DOUBLINGS = 6;
    /** How long callers may keep results and scopes after a server was left that goes on serving. */
    private static final long HELD_NANOS = TimeUnit.SECONDS.toNanos(30);

    /** As this channel's stubs use it: a server of another version gets converted calls. */
    private volatile ClientConnection connection;
    /** Held while its server is asked for a service, for {@link #used} and changes of {@link #connection}. */
    private final ReentrantLock using = new ReentrantLock();
    /** The interfaces for which the channel has stubs. */
    private final Set<Class<?>> used = new HashSet<>();

    private final AtomicInteger calls = new AtomicInteger();
    private final AtomicInteger failures = new AtomicInteger();
    /** The latest deadline of its streams. */
    private final AtomicLong streamsEnd = new AtomicLong(System.nanoTime());

    private volatile double weight = 1;
    private volatile boolean ejected;
    private volatile long ejectedUntil;
    private final AtomicInteger ejections = new AtomicInteger();

    public Subchannel(ClientConnection connection) {
        this.connection = connection;
    }

    public final ClientConnection connection() {
        return connection;
    }

    public final boolean isUsable() {
        return connection.isUsable();
    }

    /**
     * Whether it has to stay because callers hold results or scopes there: until its server ends it, or for 30 s if the
     * server goes on serving.
     *
     * @param leftAt nanoTime since which it gets no calls
     */
    protected final boolean isHeld(long leftAt) {
        return connection.hasHeldObjects() && (!isUsable() || System.nanoTime() - leftAt < HELD_NANOS);
    }

    /**
     * Prepares the connection for the calls of a service's stubs, once for each interface. May wait for the server, so it
     * must be called without any lock that calls to other servers need.
     *
     * @param deadline nanoTime until which it may wait
     * @throws RpcException FAILED_PRECONDITION if its server has a version that they cannot call, PERMISSION_DENIED if
     *     this client may not use it, another code if the server cannot be asked now
     */
    public final void use(ServiceDefinition<?> definition, String channel, long deadline) {
        lockUntil(deadline, channel);
        try {
            if (!used.contains(definition.type())) {
                ClientConnection adapted = Adaptation.adapt(definition, connection, channel, deadline);
                adapted.use(definition);
                connection = adapted;
                used.add(definition.type());
            }
        } finally {
            using.unlock();
        }
    }

    /**
     * {@linkplain #use Prepares} subchannels at the same time, because a slow server must not take the time of the
     * others.
     *
     * @return those that failed, and why
     */
    public static <S extends Subchannel> Map<S, RpcException> useAll(
            List<S> subchannels, ServiceDefinition<?> definition, String channel, long deadline) {
        Map<S, RpcException> failures = new LinkedHashMap<>();
        Map<S, CompletableFuture<Optional<RpcException>>> asked = new LinkedHashMap<>();
        if (subchannels.size() == 1) {
            S only = subchannels.getFirst();
            failureOfUse(only, definition, channel, deadline).ifPresent(why -> failures.put(only, why));
            return failures;
        }
        for (S each : subchannels) {
            asked.put(
                    each,
                    CompletableFuture.supplyAsync(
                            () -> failureOfUse(each, definition, channel, deadline),
                            action -> Thread.ofVirtual().name("rackcall-use").start(action)));
        }
        asked.forEach((each, failure) -> failure.join().ifPresent(why -> failures.put(each, why)));
        return failures;
    }

    private static Optional<RpcException> failureOfUse(
            Subchannel subchannel, ServiceDefinition<?> definition, String channel, long deadline) {
        try {
            subchannel.use(definition, channel, deadline);
            return Optional.empty();
        } catch (RpcException e) {
            return Optional.of(e);
        } catch (RuntimeException e) {
            // One server's failure must not hide the answers of the others.
            return Optional.of(Status.Code.INTERNAL
                    .with("channel %s: %s cannot be asked for another service: %s", channel, subchannel, e)
                    .asException(e));
        }
    }

    private void lockUntil(long deadline, String channel) {
        try {
            if (using.tryLock() || using.tryLock(Math.max(0, deadline - System.nanoTime()), TimeUnit.NANOSECONDS)) {
                return;
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw Status.Code.CANCELLED
                    .with("channel %s: interrupted while %s was asked for another service", channel, this)
                    .asException(e);
        }
        throw Status.Code.DEADLINE_EXCEEDED
                .with("channel %s: %s has not told in time which services it has", channel, this)
                .asException();
    }

    /**
     * Whether a failure of {@link #use} lasts as long as the server: its version or its access list is the reason.
     * After any other failure the server may serve the stubs the next time.
     */
    public static boolean isFinal(RpcException failure) {
        return failure.code() == Status.Code.FAILED_PRECONDITION || failure.code() == Status.Code.PERMISSION_DENIED;
    }

    // ---- calls

    /** Calls in flight, as counted by {@link #begun} and {@link #ended}. */
    public final int calls() {
        return calls.get();
    }

    public final void begun() {
        calls.incrementAndGet();
    }

    /**
     * A stream has begun. Its reader may be slow; a stream that is never closed keeps the subchannel until its
     * deadline.
     */
    public final void begunStream(long deadline) {
        streamsEnd.accumulateAndGet(deadline, (one, other) -> one - other > 0 ? one : other);
    }

    /** Whether a stream is read here that has not reached its deadline. */
    protected final boolean hasStreams() {
        return calls.get() > 0 && System.nanoTime() - streamsEnd.get() < 0;
    }

    public final void ended(Status.Code code) {
        calls.decrementAndGet();
        switch (code) {
            case UNAVAILABLE, DEADLINE_EXCEEDED, INTERNAL -> failed();
            default -> {
                // An error that a handler has chosen is an answer, too.
                if (failures.get() != 0) {
                    failures.set(0);
                }
            }
        }
    }

    private void failed() {
        if (failures.incrementAndGet() == FAILURES) {
            int before = ejections.getAndIncrement();
            ejectedUntil = System.nanoTime() + (FIRST_EJECTION_NANOS << Math.min(before, MOST_DOUBLINGS));
            failures.set(0);
            ejected = true;
        }
    }

    /** Whether other subchannels are preferred for now. */
    public final boolean isEjected() {
        if (ejected && System.nanoTime() - ejectedUntil >= 0) {
            ejected = false;
        }
        return ejected;
    }

    public final String whyEjected() {
        return FAILURES + " calls in a row have failed there; other servers are preferred for "
                + Math.max(0, TimeUnit.NANOSECONDS.toMillis(ejectedUntil - System.nanoTime())) + " ms";
    }

    /** Sets its server's reported load: the calls in flight there, of all clients; 0 if unknown. */
    public final void load(int callsThere) {
        weight = 1 / Math.sqrt(1.0 + callsThere);
    }

    /**
     * Its weight among subchannels with equally many calls: the inverse square root of its server's load. Reports are
     * seconds old and the same for all clients. If all clients chose the least loaded server, it would be the most
     * loaded one at the next report. With the plain inverse the shares would oscillate forever; with the root each
     * swing is smaller than the last.
     */
    public final double weight() {
        return weight;
    }

    /**
     * The subchannel with the fewest calls in flight. Among equals it is chosen at random, weighted by {@link #weight};
     * an ejected one is chosen only if there is no other. The reported load is secondary, because only the channel's
     * own calls are counted exactly.
     *
     * @param tried subchannels that have failed this call: chosen only if there is no other
     */
    public static Subchannel pick(Subchannel[] subchannels, List<Subchannel> tried) {
        if (subchannels.length == 1) {
            return subchannels[0];
        }
        Subchannel best = null;
        long bestCost = Long.MAX_VALUE;
        double weights = 0;
        for (Subchannel subchannel : subchannels) {
            long cost = subchannel.calls();
            if (subchannel.isEjected()) {
                cost += 1L << 32;
            }
            if (!subchannel.isUsable()) {
                cost += 1L << 33;
            }
            if (!tried.isEmpty() && tried.contains(subchannel)) {
                cost += 1L << 34;
            }
            if (cost < bestCost) {
                bestCost = cost;
                best = subchannel;
                weights = subchannel.weight();
            } else if (cost == bestCost) {
                // Makes each of the equal subchannels the best with a probability proportional to its weight.
                weights += subchannel.weight();
                if (ThreadLocalRandom.current().nextDouble() * weights < subchannel.weight()) {
                    best = subchannel;
                }
            }
        }
        return best;
    }

    /** A scope of its memory. */
    public Scope newScope(long firstBytes, boolean shared) {
        return shared ? connection.newSharedScope(firstBytes) : connection.newScope(firstBytes);
    }
}
