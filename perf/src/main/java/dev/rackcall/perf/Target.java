package dev.rackcall.perf;

import java.util.Locale;

/** What can be asked of the benchmark. */
enum Target {
    /** Round trips, one call in flight. */
    RTT,
    /** Calls a second with several in flight from one thread. */
    THROUGHPUT,
    /** Time and memory of a new connection. */
    CONNECT,
    /** Many workers that connect to many servers at a time. */
    ELASTIC,
    /** What idle processes and idle connections cost. */
    IDLE,
    /** Time from the start of a client's JVM to its first reply. */
    START,
    /** What seals, snapshots and sandboxes cost. */
    ISOLATION,
    /** The software RDMA device. */
    VERBS,
    /** Calls over RDMA beside their floor and gRPC over TCP. */
    RDMA,
    /** Locks for threads that share memory and threads that come by RDMA. */
    ALOCK,
    /** Micro-benchmarks by JMH. */
    JMH;

    /** Whether a subject is among what it measures. */
    boolean measures(Subject subject) {
        return switch (this) {
            case RTT, ELASTIC, ISOLATION, VERBS, RDMA -> subject.isOf(this);
            case THROUGHPUT -> subject.pipelines();
            case CONNECT -> subject.takesManyConnections() || subject.isOf(this);
            case IDLE, START -> subject.takesManyConnections();
            case ALOCK, JMH -> false;
        };
    }

    /** As {@link #measures(Subject)}, of anything that has a name. */
    boolean measures(String name) {
        return this == ALOCK
                ? LockTarget.names().contains(name)
                : Subjects.all().stream().anyMatch(subject -> subject.name().equals(name) && measures(subject));
    }

    /** As users write it. */
    String word() {
        return name().toLowerCase(Locale.ROOT);
    }
}
