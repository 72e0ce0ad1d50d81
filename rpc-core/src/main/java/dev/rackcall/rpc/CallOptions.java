package dev.rackcall.rpc;

import java.time.Duration;
import java.util.Objects;
import java.util.Optional;

/**
 * What a stub applies to each of its calls: a timeout, headers, isolation, an observer. Immutable.
 *
 * <p>The timeout restarts with every call. (In gRPC a stub's deadline is one moment, after which that stub is
 * useless.)
 */
public final class CallOptions {
    /** The channel's default timeout, which servers need not see; no headers. */
    public static final CallOptions DEFAULT =
            new CallOptions(null, null, Metadata.EMPTY, Isolation.DEFAULT, CallObserver.NONE, false);

    private final Duration timeout;
    private final Deadline deadline;
    private final Metadata headers;
    private final Isolation isolation;
    private final CallObserver observer;
    private final boolean waitsForReady;

    private CallOptions(
            Duration timeout,
            Deadline deadline,
            Metadata headers,
            Isolation isolation,
            CallObserver observer,
            boolean waitsForReady) {
        this.timeout = timeout;
        this.deadline = deadline;
        this.headers = headers;
        this.isolation = isolation;
        this.observer = observer;
        this.waitsForReady = waitsForReady;
    }

    /** Limits every call to this duration. */
    public CallOptions withTimeout(Duration value) {
        if (value.isNegative() || value.isZero()) {
            throw new IllegalArgumentException("a call's time-out must be positive, not " + value);
        }
        return new CallOptions(value, deadline, headers, isolation, observer, waitsForReady);
    }

    /** All calls must have ended by this moment. */
    public CallOptions withDeadline(Deadline value) {
        return new CallOptions(
                timeout, Objects.requireNonNull(value, "deadline"), headers, isolation, observer, waitsForReady);
    }

    /** Sends these headers with every call, in addition to those already set. */
    public CallOptions withHeaders(Metadata value) {
        return new CallOptions(timeout, deadline, headers.with(value), isolation, observer, waitsForReady);
    }

    /** Sets how every call isolates the shared objects that it passes, overriding the method's declaration. */
    public CallOptions withIsolation(Isolation value) {
        return new CallOptions(
                timeout, deadline, headers, Objects.requireNonNull(value, "isolation"), observer, waitsForReady);
    }

    /**
     * Adds an observer, which learns how each call ends and gets the server's trailers. Observers that were set before
     * stay. They run before a synchronous call returns, and before a future completes.
     *
     * <pre>{@code
     * Search search = channel.stub(Search.class, CallOptions.DEFAULT.withObserver(
     *         (status, trailers) -> trailers.text("index-age").ifPresent(this::showAge)));
     * }</pre>
     */
    public CallOptions withObserver(CallObserver value) {
        Objects.requireNonNull(value, "observer");
        CallObserver before = observer;
        return new CallOptions(
                timeout,
                deadline,
                headers,
                isolation,
                before == CallObserver.NONE ? value : before.and(value),
                waitsForReady);
    }

    /**
     * Makes calls wait until their deadlines while the channel has no server that accepts clients, for example during an
     * upgrade. Without this option, they fail at once with UNAVAILABLE. Once a call has been sent, it does not wait: if
     * its server ends, it fails.
     */
    public CallOptions withWaitForReady() {
        return new CallOptions(timeout, deadline, headers, isolation, observer, true);
    }

    /** Whether calls wait for a server. */
    public boolean waitsForReady() {
        return waitsForReady;
    }

    public Isolation isolation() {
        return isolation;
    }

    public Optional<Duration> timeout() {
        return Optional.ofNullable(timeout);
    }

    public Optional<Deadline> deadline() {
        return Optional.ofNullable(deadline);
    }

    public CallObserver observer() {
        return observer;
    }

    public Metadata headers() {
        return headers;
    }
}
