package dev.rackcall.rack.guest;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * The guest that this program runs in: its reports to the machine, and its waits for the other guests. Guests wait for
 * each other by files in an uncached folder of the machine that all of them see.
 */
final class Guest {
    static final Path DEVICE = Path.of("/dev/dax0.0");
    /**
     * Maximum wait for another guest: several times the wait of three guests that share two processors with other
     * work.
     */
    static final Duration BOUND = Duration.ofMinutes(4);

    /** How long guests wait for each other: one that skips steps is minutes ahead, more on a busy host. */
    private static final Duration MEETING_BOUND = Duration.ofMinutes(20);

    private static final Path MEETING = Path.of("/rack/sync");
    private static final long POLL_NANOS = Duration.ofMillis(20).toNanos();
    private static final int YIELDS = 500;
    private static final String BROKEN = "broken";

    private final String name;

    Guest(String name) {
        this.name = name;
    }

    String name() {
        return name;
    }

    int number() {
        return name.charAt(0) - 'A';
    }

    String address() {
        return "10.77.0." + (number() + 1);
    }

    boolean is(String other) {
        return name.equals(other);
    }

    /** The guest that shares memory with this one. */
    String partner() {
        return is("A") ? "B" : "A";
    }

    void tell(Console what) {
        System.out.println(what.line());
        System.out.flush();
    }

    /** Whether the run is a long one. */
    boolean isLong() {
        return Boolean.getBoolean(Step.LONG);
    }

    /** Writes a line with progress into the guest's log. */
    void note(String text) {
        System.out.println("- " + text);
        System.out.flush();
    }

    /** What a guest does in a step. */
    @FunctionalInterface
    interface Work {
        /** Returns a summary in one line. */
        String run(Guest guest) throws Exception;
    }

    /** Does the work of a step and reports its result; returns whether it was good. */
    boolean take(Step step, Work work) {
        tell(new Console.Begin(step));
        note("this guest's clock: %.1f s since the beginning of its boot".formatted(System.nanoTime() / 1e9));
        try {
            tell(new Console.End(step, true, work.run(this)));
            return true;
        } catch (Throwable e) {
            // The others must not wait for this guest in that step, and the machine needs to see every failure.
            put(step.word() + "-" + BROKEN, name);
            StringWriter trace = new StringWriter();
            e.printStackTrace(new PrintWriter(trace));
            System.out.println(trace);
            tell(new Console.End(step, false, e.toString()));
            return false;
        }
    }

    /** Waits until the partner has reached the same point of a step. */
    void meet(Step step, String point) {
        put(step.word() + "-" + point + "-" + name, "here");
        get(step, point + "-" + partner());
    }

    /** Writes a value that others {@link #get}. */
    void put(Step step, String key, String value) {
        put(step.word() + "-" + key, value);
    }

    private static void put(String key, String value) {
        try {
            Path whole = MEETING.resolve(key);
            Path draft = MEETING.resolve(key + ".draft");
            Files.writeString(draft, value);
            Files.move(draft, whole, StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException e) {
            throw new IllegalStateException("the folder in which guests meet cannot be written", e);
        }
    }

    /**
     * Waits for a value of another guest.
     *
     * @throws IllegalStateException if it is not there in time, or another guest has failed in this step
     */
    String get(Step step, String key) {
        Path file = MEETING.resolve(step.word() + "-" + key);
        Path broken = MEETING.resolve(step.word() + "-" + BROKEN);
        await("no guest has written " + key, () -> {
            if (Files.exists(broken)) {
                throw new IllegalStateException("another guest has failed in this step; see there");
            }
            return Files.exists(file);
        });
        try {
            return Files.readString(file, StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new IllegalStateException(file + " cannot be read", e);
        }
    }

    /** Waits until a condition holds. */
    static void await(String complaint, BooleanSupplier condition) {
        long end = System.nanoTime() + MEETING_BOUND.toNanos();
        int looks = 0;
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - end > 0) {
                throw new IllegalStateException(complaint + " within " + MEETING_BOUND.toSeconds() + " s");
            }
            if (++looks < YIELDS) {
                Thread.yield();
            } else {
                LockSupport.parkNanos(POLL_NANOS);
            }
        }
    }

    /** @throws IllegalStateException with that message unless {@code good} */
    static void require(boolean good, String complaint) {
        if (!good) {
            throw new IllegalStateException(complaint);
        }
    }
}
