package dev.rackcall.junit;

import dev.rackcall.rpc.ClientInterceptor;
import dev.rackcall.rpc.MethodDescriptor;
import dev.rackcall.rpc.RpcContext;
import dev.rackcall.rpc.ServerInterceptor;
import dev.rackcall.rpc.Status;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/**
 * Delays, holds or fails the calls of a test, by the names of their methods: of all services, or of one with {@link
 * #of}. A fault lasts until {@link #clear}, or until the test ends. Thread-safe.
 */
public final class CallFaults {
    private static final Duration LONGEST_HOLD = Duration.ofMinutes(1);
    private static final String ALL = "";

    /**
     * The calls that a fault affects.
     *
     * @param service a channel's name, or {@link #ALL}
     */
    private record Target(String service, String method) {
        static Target of(MethodDescriptor method) {
            return new Target(method.service(), method.name());
        }

        boolean isWithin(Target other) {
            return (other.service.equals(ALL) || other.service.equals(service)) && other.method.equals(method);
        }

        /** What is set for it, or for all services; null if nothing. */
        <T> T findIn(Map<Target, T> faults) {
            T own = faults.get(this);
            return own != null ? own : faults.get(new Target(ALL, method));
        }
    }

    /**
     * A failure.
     *
     * @param atCall whether also a call that returns a future fails before it is sent
     */
    private record Failure(Status status, boolean atCall) {
        boolean isAtClient(MethodDescriptor method) {
            return atCall || method.kind() != MethodDescriptor.Kind.ASYNC;
        }
    }

    private final Function<Class<?>, String> names;
    private final String service;
    private final Map<Target, Failure> failures;
    private final Map<Target, Duration> delays;
    /** What calls that wait at the server pass when they are released. */
    private final Map<CountDownLatch, Target> gates;

    /**
     * Of all services.
     *
     * @param names gives the channel name of a service
     */
    CallFaults(Function<Class<?>, String> names) {
        this.names = names;
        this.service = ALL;
        this.failures = new ConcurrentHashMap<>();
        this.delays = new ConcurrentHashMap<>();
        this.gates = new ConcurrentHashMap<>();
    }

    private CallFaults(CallFaults all, String service) {
        this.names = all.names;
        this.service = service;
        this.failures = all.failures;
        this.delays = all.delays;
        this.gates = all.gates;
    }

    /**
     * The faults of one service, where several have methods of the same name. What is set here takes precedence over
     * what is set for all.
     */
    public CallFaults of(Class<?> service) {
        return new CallFaults(this, names.apply(service));
    }

    /**
     * Makes the calls of a method fail at the client, before they are sent. Calls that return a {@code
     * CompletableFuture} are sent and fail before their handlers run, so the future completes exceptionally, as when the
     * server is lost.
     *
     * @param method the Java method's name
     */
    public void fail(String method, Status status) {
        if (status.isOk()) {
            throw new IllegalArgumentException("a call cannot fail with " + status);
        }
        failures.put(new Target(service, method), new Failure(status, false));
    }

    /**
     * Makes the calls of a method fail as they do when the connection's arena is full: with RESOURCE_EXHAUSTED, before
     * they are sent, also if they return a future.
     */
    public void exhaust(String method) {
        Status full = Status.Code.RESOURCE_EXHAUSTED.with("%s: the test has filled the arena", method);
        failures.put(new Target(service, method), new Failure(full, true));
    }

    /**
     * Lets the calls of a method wait at the server before their handlers run, for that time or until the caller gives
     * up.
     */
    public void delay(String method, Duration delay) {
        delays.put(new Target(service, method), delay);
    }

    /**
     * Lets the calls of a method wait at the server until {@link #release}, until their callers give up, or for a
     * minute. Each keeps its handler's thread: with {@link dev.rackcall.rpc.Dispatch#direct}, which is the default,
     * hold at most 8 calls.
     */
    public void hold(String method) {
        delay(method, LONGEST_HOLD);
    }

    /** The number of calls that wait at the server now. */
    public int waiting() {
        return (int) gates.values().stream().filter(this::covers).count();
    }

    /** Ends a delay or a hold: the method's later calls do not wait, and waiting calls continue. */
    public void release(String method) {
        Target released = new Target(service, method);
        delays.keySet().removeIf(target -> target.isWithin(released));
        gates.forEach((gate, target) -> {
            if (target.isWithin(released)) {
                gate.countDown();
            }
        });
    }

    /** Ends all faults; calls that wait go on. */
    public void clear() {
        failures.keySet().removeIf(this::covers);
        delays.keySet().removeIf(this::covers);
        gates.forEach((gate, target) -> {
            if (covers(target)) {
                gate.countDown();
            }
        });
    }

    private boolean covers(Target target) {
        return service.equals(ALL) || service.equals(target.service);
    }

    ClientInterceptor atClient() {
        return (call, next) -> {
            Failure failure = Target.of(call.method()).findIn(failures);
            if (failure != null && failure.isAtClient(call.method())) {
                throw failure.status.asException();
            }
            next.run();
        };
    }

    ServerInterceptor atServer() {
        return (call, next) -> {
            Target target = Target.of(call.method());
            Duration delay = target.findIn(delays);
            if (delay != null) {
                await(call, target, delay);
            }
            Failure failure = target.findIn(failures);
            if (failure != null && !failure.isAtClient(call.method())) {
                throw failure.status.asException();
            }
            next.run();
        };
    }

    private void await(RpcContext call, Target target, Duration delay) {
        CountDownLatch gate = new CountDownLatch(1);
        gates.put(gate, target);
        try {
            call.onCancel(gate::countDown);
            // A release between the first look at the delays and this gate would be missed.
            if (target.findIn(delays) != null) {
                var _ = gate.await(delay.toNanos(), TimeUnit.NANOSECONDS);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw Status.Code.CANCELLED
                    .with("%s: interrupted while its test held it", call.method())
                    .asException(e);
        } finally {
            gates.remove(gate);
        }
    }
}
