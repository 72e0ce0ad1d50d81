package dev.rackcall.sandbox;

import java.util.concurrent.atomic.LongAdder;
import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.EventType;
import jdk.jfr.FlightRecorder;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;

/**
 * JFR events (category Rackcall, Isolation) and counters of this process. Events of seals and releases have no stack
 * trace and cost nanoseconds; those of violations have one. Thread-safe.
 */
public final class IsolationEvents {
    private static final LongAdder SEALS = new LongAdder();
    private static final LongAdder SEALED_BYTES = new LongAdder();
    private static final LongAdder RELEASES = new LongAdder();
    private static final LongAdder RELEASE_PASSES = new LongAdder();
    private static final LongAdder REVOCATIONS = new LongAdder();
    private static final LongAdder VIOLATIONS = new LongAdder();

    private IsolationEvents() {}

    /** What was violated. */
    public enum Violation {
        /** A store to a sealed scope. */
        SEAL,
        /** A Ref that leads out of the arguments' scope and the declared arenas, or more Refs than the bound. */
        SANDBOX,
        /** Native code or a raw access tried to reach memory that a protection key closes. */
        PROTECTION_KEY,
        /** A call with less isolation than the server demands, or with an invalid seal. */
        PROTOCOL
    }

    /**
     * Counts since this process started.
     *
     * @param seals scopes sealed
     * @param sealedBytes bytes in the pages of those scopes
     * @param releases seals released
     * @param releasePasses system calls that released them
     * @param revocations seals taken back from a receiver that was not done
     * @param violations of all kinds
     */
    public record Counters(
            long seals, long sealedBytes, long releases, long releasePasses, long revocations, long violations) {}

    /** The counters now. */
    public static Counters counters() {
        return new Counters(
                SEALS.sum(),
                SEALED_BYTES.sum(),
                RELEASES.sum(),
                RELEASE_PASSES.sum(),
                REVOCATIONS.sum(),
                VIOLATIONS.sum());
    }

    /**
     * Records a refused violation.
     *
     * @param call the call in which it happened, as its messages name it
     * @param what description of the attempt
     */
    public static void violation(Violation kind, String call, String what) {
        VIOLATIONS.increment();
        ViolationEvent event = new ViolationEvent();
        if (event.shouldCommit()) {
            event.kind = kind.name();
            event.call = call;
            event.what = what;
            event.commit();
        }
    }

    /** Begins the event of a seal. Returns null and allocates nothing unless such events are recorded. */
    static SealEvent sealBegins() {
        if (!FlightRecorder.isInitialized() || !Types.SEAL.isEnabled()) {
            return null;
        }
        SealEvent event = new SealEvent();
        event.begin();
        return event;
    }

    /** As {@link #sealBegins}. */
    static ReleaseEvent releaseBegins() {
        if (!FlightRecorder.isInitialized() || !Types.RELEASE.isEnabled()) {
            return null;
        }
        ReleaseEvent event = new ReleaseEvent();
        event.begin();
        return event;
    }

    /** Event types. Checking whether one is enabled, unlike a new event, allocates nothing. Initialised only in a
     * process that records events. */
    private static final class Types {
        private static final EventType SEAL = EventType.getEventType(SealEvent.class);
        private static final EventType RELEASE = EventType.getEventType(ReleaseEvent.class);
    }

    static void sealed(SealEvent event, int arena, long bytes, Object call) {
        SEALS.increment();
        SEALED_BYTES.add(bytes);
        if (event != null && event.shouldCommit()) {
            event.arena = arena;
            event.bytes = bytes;
            event.call = String.valueOf(call);
            event.commit();
        }
    }

    static void released(ReleaseEvent event, int arena, int seals, int passes, boolean revoked) {
        RELEASES.add(seals);
        RELEASE_PASSES.add(passes);
        if (revoked) {
            REVOCATIONS.add(seals);
        }
        if (event != null && event.shouldCommit()) {
            event.arena = arena;
            event.seals = seals;
            event.passes = passes;
            event.revoked = revoked;
            event.commit();
        }
    }

    @Name("dev.rackcall.Seal")
    @Label("Seal")
    @Description("A scope was closed to stores for a call")
    @Category({"Rackcall", "Isolation"})
    @StackTrace(false)
    static final class SealEvent extends Event {
        @Label("Arena")
        int arena;

        @Label("Bytes")
        @DataAmount
        long bytes;

        @Label("Call")
        String call;
    }

    @Name("dev.rackcall.SealRelease")
    @Label("Seal Release")
    @Description("Scopes were opened again")
    @Category({"Rackcall", "Isolation"})
    @StackTrace(false)
    static final class ReleaseEvent extends Event {
        @Label("Arena")
        int arena;

        @Label("Seals")
        int seals;

        @Label("Passes")
        @Description("System calls that it took")
        int passes;

        @Label("Revoked")
        @Description("The receiver was not done")
        boolean revoked;
    }

    @Name("dev.rackcall.IsolationViolation")
    @Label("Isolation Violation")
    @Description("An access was refused that a seal, a sandbox or the protocol forbids")
    @Category({"Rackcall", "Isolation"})
    static final class ViolationEvent extends Event {
        @Label("Kind")
        String kind;

        @Label("Call")
        String call;

        @Label("What")
        String what;
    }
}
