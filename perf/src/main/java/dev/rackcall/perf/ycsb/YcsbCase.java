package dev.rackcall.perf.ycsb;

import dev.rackcall.perf.harness.Subject;
import dev.rackcall.perf.result.BenchTarget;
import java.util.ArrayList;
import java.util.List;

/**
 * One result of the target.
 *
 * @param subject its name and how its processes are started
 * @param processes with client threads
 * @param threads of each process
 */
record YcsbCase(Subject subject, YcsbPeer peer, YcsbWorkload workload, int processes, int threads) {
    private static final List<String> SHAPES = List.of("1x1", "1x4", "4x4");
    private static final String SHAPE_ON_REQUEST = "1x16";
    private static final List<String> FLAGS = List.of(
            "-Dorg.slf4j.simpleLogger.log.io.grpc.netty.shaded=error",
            "-Dorg.slf4j.simpleLogger.log.net.spy=warn",
            "-Dnet.spy.log.LoggerImpl=net.spy.memcached.compat.log.SLF4JLogger",
            "--sun-misc-unsafe-memory-access=allow");

    /** All, in the order of the measurement and of the report. */
    static final List<YcsbCase> ALL = all();

    private static List<YcsbCase> all() {
        List<YcsbCase> cases = new ArrayList<>();
        for (YcsbWorkload workload : YcsbWorkload.values()) {
            for (String shape : SHAPES) {
                add(cases, workload, shape, false);
            }
            add(cases, workload, SHAPE_ON_REQUEST, true);
        }
        return List.copyOf(cases);
    }

    private static void add(List<YcsbCase> cases, YcsbWorkload workload, String shape, boolean isOnRequest) {
        String[] counts = shape.split("x", 2);
        for (YcsbPeer peer : YcsbPeer.values()) {
            if (peer.runs(workload)) {
                Subject subject = Subject.of(name(peer, workload, shape), 0, peer.settings(), peer)
                        .in(BenchTarget.YCSB, peer.word(), "")
                        .withFlags(FLAGS)
                        .unless(peer::missing);
                cases.add(new YcsbCase(
                        isOnRequest ? subject.onRequest() : subject,
                        peer,
                        workload,
                        Integer.parseInt(counts[0]),
                        Integer.parseInt(counts[1])));
            }
        }
    }

    private static String name(YcsbPeer peer, YcsbWorkload workload, String shape) {
        return "ycsb-" + peer.word() + "-" + workload.word() + "-" + shape;
    }

    /** The name of another peer's result of the same workload from as many threads. */
    String nameOf(YcsbPeer other) {
        return name(other, workload, processes + "x" + threads);
    }
}
