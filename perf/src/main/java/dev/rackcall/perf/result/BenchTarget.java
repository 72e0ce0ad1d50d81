package dev.rackcall.perf.result;

import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.SequencedMap;

/**
 * The targets of {@code rackcall bench}: what each measures, and which figures its table shows beside the latencies.
 */
public enum BenchTarget {
    RTT(
            "Round trips, one call in flight",
            "raw_ratio: to raw, aeron_ratio: to aeron, raw_value_ratio: to raw copies, copies_ratio: to copies, alloc_client_b: alloc client, alloc_server_b: alloc server"),
    /** Calls a second with several in flight from one thread. */
    THROUGHPUT(
            "Throughput, one client thread; rackcall-virtual-1000, rackcall-platform-8: so many threads make 1,000 calls, whose time is divided by 1,000",
            "whole_p50_ns: p50 of 1000 calls, platform_ratio: to platform, worst_platform_ratio: worst to platform"),
    /** Client processes that share the processors with their server. */
    CROWD(
            "Crowds: client processes that call one server process, nothing pinned; latencies of the worst client, medians of the runs",
            "worst_ops_per_s: worst run, uds_ratio: worst to uds, grpc_uds_ratio: to grpc, aeron_ratio: to aeron, uds_p99_ratio: worst p99 to uds, worst_slowest_to_fastest: worst slowest to fastest, cpu_s_per_million: cpu/1 M calls, uds_cpu_ratio: worst cpu to uds"),
    /** A key-value service and its peers under YCSB's workloads. */
    YCSB(
            "YCSB: PEER-WORKLOAD-PROCESSESxTHREADS, 100,000 records of 1 KB, nothing pinned, every read checked; latencies of the worst process, medians of the runs",
            "worst_ops_per_s: worst run, redis_ratio: worst to redis, memcached_ratio: to memcached, grpc_ratio: to grpc"),
    /** Calls with pauses between them. */
    RARE(
            "Rare calls: one client, a call every MS milliseconds, nothing pinned; medians of the runs",
            "worst_p50_ns: worst p50, worst_p99_ns: worst p99, uds_ratio: worst to uds, c_uds_ratio: to C"),
    /** Services that call each other. */
    SOCIAL(
            "The social network of DeathStarBench: ten services, one process each, nothing pinned; requests arrive at random at RATE a second; latencies from the time at which a request was due",
            "cpu_s_per_million: cpu/1 M requests, grpc_ratio: to grpc, grpc_p99_ratio: p99 to grpc, grpc_cpu_ratio: cpu to grpc"),
    CONNECT(
            "A new connection: time to its first reply, memory of both sides; connect-*: virtual queues on the software RDMA device",
            "cold_p50_ns: cold p50, shared_b: shared, private_b: private, heap_b: heap, fresh_ratio: fresh rc to it"),
    /** Many workers that connect to many servers at the same time. */
    ELASTIC(
            "Elastic start: 50 workers connect to 20 servers; from nothing until each has read its first key (-first), or a key of each server",
            "less_percent: less than fresh"),
    IDLE(
            "Idle: rare calls and what idle processes use; a busy connection among idle ones",
            "server_cpu_percent: server cpu, client_cpu_percent: client cpu, cpu_percent: both, p50_ratio: to alone, top_cpu_percent: top cpu, top_start_cpu_s: top start s"),
    START("From the start of the client's JVM to its first reply", ""),
    ISOLATION(
            "Isolation: calls that pass a scope of some pages; what snapshots, seals and sandboxes cost",
            "floor_ratio: to trusted, above_floor_ns: above trusted, p99_ratio: p99 to alone"),
    METRICS(
            "Metrics and traces: a call whose client and server report it, beside the plain call",
            "added_ns: added, alloc_client_b: alloc client, alloc_server_b: alloc server"),
    VERBS("The software RDMA device, one message in flight", "floor_ratio: to WRITE, alloc_client_b: alloc client"),
    /** Calls over RDMA beside their floor and gRPC over TCP. */
    RDMA(
            "Calls over RDMA (software device), one in flight; grpc-tcp-N beside the call over RDMA that does the same",
            "pingpong_ratio: to ping-pong, rdma_ratio: to rdma, alloc_client_b: alloc client, alloc_server_b: alloc server"),
    GRPC(
            "grpc-java with protobuf messages: over Rackcall, in process, over a Unix socket; -bidi and -stream: a message; -idle-N: rare calls beside N idle connections",
            "inproc_ratio: to in-process, rackcall_ratio: to rackcall, alloc_client_b: alloc client, alloc_server_b: alloc server, cpu_percent: cpu, memory_mib: MiB"),
    /** Locks for threads that share memory and threads that reach it by RDMA. */
    ALOCK(
            "Locks: KIND-LOCALITY-LOCKS, 3 nodes with 2 threads each, KIND-LOCALITY-LOCKS-THREADS with so many each, over the software RDMA device, empty critical sections",
            "x_spin: times spin, x_mcs: times mcs, alone_x_spin: alone times spin, alone_x_mcs: alone times mcs, ns_per_op: ns an operation"),
    OBJECTS("Shared objects beside plain objects and JSON: processor time of one thread, in turns, medians", ""),
    JMH("Micro-benchmarks (JMH, mean time)", "");

    private final String title;
    private final SequencedMap<String, String> columns = new LinkedHashMap<>();

    BenchTarget(String title, String columns) {
        this.title = title;
        for (String column : columns.isEmpty() ? new String[0] : columns.split(", ", -1)) {
            String[] keyAndHead = column.split(": ", 2);
            this.columns.put(keyAndHead[0], keyAndHead[1]);
        }
    }

    /** The heading of the target's table. */
    public String title() {
        return title;
    }

    /** The further figures that the target's table shows, by their JSON name, with the column's heading. */
    public SequencedMap<String, String> columns() {
        return Collections.unmodifiableSequencedMap(columns);
    }

    /** Whether its results are {@link Micro}s. */
    public boolean isMicro() {
        return this == JMH || this == OBJECTS;
    }

    /** @throws IllegalArgumentException if no target has this {@link #word} */
    static BenchTarget named(String word) {
        return Arrays.stream(values())
                .filter(target -> target.word().equals(word))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("unknown target " + word));
    }

    /** The name on the command line and in JSON. */
    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }
}
