package dev.rackcall.junit;

import dev.rackcall.rpc.ClientInterceptor;
import dev.rackcall.rpc.RpcContext;
import dev.rackcall.rpc.ServerInterceptor;
import dev.rackcall.rpc.Status;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Delays, holds or fails the calls of a test, by the names of their methods. A fault lasts until
 * {@link #clear}, or until the test ends. Thread-safe.
 */
public final class CallFaults {
    private static final Duration LONGEST_HOLD = Duration.ofMinutes(1);

    private final Map<String, Status> failures = new ConcurrentHashMap<>();
    private final Map<String, Duration> delays = new ConcurrentHashMap<>();
    /** What calls that wait at the server pass when they are released, with their methods. */
    private final Map<CountDownLatch, String> gates = new ConcurrentHashMap<>();

    CallFaults() {}

    /**
     * Lets the calls of a method fail at the client, before they are sent.
     *
     * @param method the Java method's name
     */
    public void fail(String method, Status status) {
        if (status.isOk()) {
            throw new IllegalArgumentException("a call cannot fail with " + status);
        }
        failures.put(method, status);
    }

    /** Lets the calls of a method fail as they do when the connection's arena is full: with RESOURCE_EXHAUSTED. */
    public void exhaust(String method) {
        fail(method, Status.Code.RESOURCE_EXHAUSTED.with("%s: the test has filled the arena", method));
    }

    /**
     * Lets the calls of a method wait at the server before their handlers run, for that time or until the caller gives
     * up.
     */
    public void delay(String method, Duration delay) {
        delays.put(method, delay);
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
        return gates.size();
    }

    /** Ends a delay or a hold: the method's later calls do not wait, and waiting calls continue. */
    public void release(String method) {
        delays.remove(method);
        gates.forEach((gate, waiting) -> {
            if (waiting.equals(method)) {
                gate.countDown();
            }
        });
    }

    /** Ends all faults; calls that wait go on. */
    public void clear() {
        failures.clear();
        delays.clear();
        gates.keySet().forEach(CountDownLatch::countDown);
    }

    ClientInterceptor atClient() {
        return (call, next) -> {
            Status failure = failures.get(call.method().name());
            if (failure != null) {
                throw failure.asException();
            }
            next.run();
        };
    }

    ServerInterceptor atServer() {
        return (call, next) -> {
            Duration delay = delays.get(call.method().name());
            if (delay != null) {
                await(call, delay);
            }
            next.run();
        };
    }

    private void await(RpcContext call, Duration delay) {
        CountDownLatch gate = new CountDownLatch(1);
        gates.put(gate, call.method().name());
        try {
            call.onCancel(gate::countDown);
            // A release between the first look at the delays and this gate would be missed.
            if (delays.containsKey(call.method().name())) {
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
