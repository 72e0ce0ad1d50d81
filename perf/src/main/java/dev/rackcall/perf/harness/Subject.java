package dev.rackcall.perf.harness;

import dev.rackcall.perf.result.BenchTarget;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;

/**
 * One measured thing: how its two sides are started, and how it takes part in the targets. Immutable.
 *
 * @param name the name of its results
 * @param bytes payload of one request
 * @param settings what was chosen for it (transport, threads, waiting, payload), in one line for the report
 * @param sides starts its server side and its client side
 * @param traits how it takes part
 * @param target the target that measures its round trips
 * @param group subjects of the same group take turns
 * @param floor the subject of the group that its round trips are compared with
 * @param jvmFlags flags that its JVMs need beside those of the coordinator
 * @param repetitions how often one timed call does what is measured; more than once where reading the clock would take
 *     most of the time
 * @param missing what this host lacks for it; empty if it can be measured here
 */
public record Subject(
        String name,
        int bytes,
        String settings,
        Sides sides,
        Set<Trait> traits,
        BenchTarget target,
        String group,
        String floor,
        List<String> jvmFlags,
        int repetitions,
        Supplier<Optional<String>> missing) {
    /** How a subject takes part in a run. */
    public enum Trait {
        /** One thread of each side spins, so each side gets a core of its own where there are two. */
        SPINS,
        /** It takes turns with its group and is compared turn by turn. All subjects that spin do, too. */
        TAKES_TURNS,
        /** It can have several calls in flight. */
        PIPELINES,
        /** One server side takes many connections. */
        MANY_CONNECTIONS,
        /** What is measured are a thousand connections without calls. */
        IDLES,
        /** The client side's process also holds the server side. */
        ONE_PROCESS,
        /** The two sides cannot be in one process, not even in a test. */
        NEVER_ONE_PROCESS,
        /** It is measured only if its name is given. */
        ON_REQUEST,
        /** The target {@code rdma} measures it, too, as the floor of its calls. */
        FLOOR_OF_RDMA
    }

    /** A subject of the target {@code rtt} that is compared with the raw ping-pong. */
    public static Subject of(String name, int bytes, String settings, Sides sides, Trait... traits) {
        return new Subject(
                name,
                bytes,
                settings,
                sides,
                Set.of(traits),
                BenchTarget.RTT,
                "",
                "raw-pingpong",
                List.of(),
                1,
                Optional::empty);
    }

    /** A copy for another target. */
    public Subject in(BenchTarget other, String otherGroup, String otherFloor) {
        return new Subject(
                name, bytes, settings, sides, traits, other, otherGroup, otherFloor, jvmFlags, repetitions, missing);
    }

    /** A copy whose JVMs get these flags. */
    public Subject withFlags(List<String> flags) {
        return new Subject(name, bytes, settings, sides, traits, target, group, floor, flags, repetitions, missing);
    }

    /** A copy of which one timed call does this many operations. */
    public Subject repeating(int times) {
        return new Subject(name, bytes, settings, sides, traits, target, group, floor, jvmFlags, times, missing);
    }

    /** A copy that hosts skip that lack something. */
    public Subject unless(Supplier<Optional<String>> lacking) {
        return new Subject(name, bytes, settings, sides, traits, target, group, floor, jvmFlags, repetitions, lacking);
    }

    /** A copy that is measured only if its name is given. */
    public Subject onRequest() {
        Set<Trait> more = EnumSet.of(Trait.ON_REQUEST);
        more.addAll(traits);
        return new Subject(
                name, bytes, settings, sides, Set.copyOf(more), target, group, floor, jvmFlags, repetitions, missing);
    }

    public boolean has(Trait trait) {
        return traits.contains(trait);
    }

    /** Whether it takes turns with others of its group. */
    public boolean takesTurns() {
        return has(Trait.SPINS) || has(Trait.TAKES_TURNS);
    }

    /** Whether that target measures its round trips. */
    public boolean isOf(BenchTarget asked) {
        return target == asked || (asked == BenchTarget.RDMA && has(Trait.FLOOR_OF_RDMA));
    }

    /** Whether that target measures it in any way. */
    public boolean isMeasuredBy(BenchTarget asked) {
        return switch (asked) {
            case RTT, CROWD, YCSB, RARE, SOCIAL, ELASTIC, ISOLATION, METRICS, VERBS, RDMA, GRPC -> isOf(asked);
            case THROUGHPUT -> has(Trait.PIPELINES) || isOf(asked);
            case CONNECT -> has(Trait.MANY_CONNECTIONS) || isOf(asked);
            case IDLE, START -> has(Trait.MANY_CONNECTIONS);
            case ALOCK, OBJECTS, JMH -> false;
        };
    }
}
