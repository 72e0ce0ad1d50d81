package dev.rackcall.perf;

import static dev.rackcall.perf.calls.BenchTransport.QUEUES;
import static dev.rackcall.perf.calls.BenchTransport.QUEUES_OF_AGENT;
import static dev.rackcall.perf.calls.BenchTransport.RDMA;
import static dev.rackcall.perf.calls.BenchTransport.SHARED_MEMORY;
import static dev.rackcall.perf.calls.RackcallCall.Argument.CONNECTION;
import static dev.rackcall.perf.calls.RackcallCall.Argument.NUMBER;
import static dev.rackcall.perf.calls.RackcallCall.Argument.POINTER;
import static dev.rackcall.perf.calls.RackcallCall.Argument.VALUE;

import dev.rackcall.perf.alock.LockTarget;
import dev.rackcall.perf.calls.RackcallCall;
import dev.rackcall.perf.calls.ReportedCall;
import dev.rackcall.perf.calls.ThreadedCalls;
import dev.rackcall.perf.connect.ConnectSides;
import dev.rackcall.perf.crowd.CrowdTarget;
import dev.rackcall.perf.elastic.ElasticSides;
import dev.rackcall.perf.harness.Subject;
import dev.rackcall.perf.isolation.IsolationSubjects;
import dev.rackcall.perf.peers.AeronIpc;
import dev.rackcall.perf.peers.GrpcCall;
import dev.rackcall.perf.peers.GrpcGraphCall;
import dev.rackcall.perf.peers.GrpcProtobuf;
import dev.rackcall.perf.peers.GrpcTransport;
import dev.rackcall.perf.peers.RawPingPong;
import dev.rackcall.perf.peers.TwoCopies;
import dev.rackcall.perf.rare.RareTarget;
import dev.rackcall.perf.rdma.SoftPingPong;
import dev.rackcall.perf.social.SocialTarget;
import dev.rackcall.perf.ycsb.YcsbTarget;
import java.util.List;
import java.util.stream.Stream;

/** All subjects, in the order of the report. */
final class Subjects {
    private static final List<Subject> ALL = Stream.of(
                    List.of(
                            RawPingPong.subject(),
                            RackcallCall.subject("rackcall-noop", SHARED_MEMORY, NUMBER, Long.BYTES),
                            RackcallCall.subject("rackcall-value-64", SHARED_MEMORY, VALUE, 64),
                            RackcallCall.unpinned("rackcall-noop-unpinned", NUMBER, Long.BYTES),
                            RackcallCall.unpinned("rackcall-value-64-unpinned", VALUE, 64),
                            RackcallCall.subject("rackcall-value-4096", SHARED_MEMORY, VALUE, 4096),
                            RawPingPong.subject(4096),
                            TwoCopies.subject(4096),
                            RackcallCall.subject("rackcall-value-1048576", SHARED_MEMORY, VALUE, 1 << 20),
                            RackcallCall.subject("rackcall-ref-1048576", SHARED_MEMORY, POINTER, 1 << 20),
                            AeronIpc.subject(),
                            GrpcCall.subject("grpc-inprocess", GrpcTransport.IN_PROCESS, 64),
                            GrpcCall.subject("grpc-uds", GrpcTransport.UNIX_SOCKET, 64),
                            GrpcCall.subject("grpc-uds-4096", GrpcTransport.UNIX_SOCKET, 4096),
                            GrpcCall.subject("grpc-uds-bytes-1048576", GrpcTransport.UNIX_SOCKET, 1 << 20),
                            GrpcCall.subject("grpc-tcp", GrpcTransport.TCP, 64),
                            SoftPingPong.subject("soft-pingpong", true),
                            SoftPingPong.subject("soft-pingpong-send", false),
                            RackcallCall.subject("rdma-noop", RDMA, NUMBER, Long.BYTES),
                            RackcallCall.subject("rdma-value-64", RDMA, VALUE, 64),
                            RackcallCall.subject("rdma-value-4096", RDMA, VALUE, 4096),
                            RackcallCall.subject("rdma-ref-1048576", RDMA, POINTER, 1 << 20),
                            RackcallCall.subject("vq-noop", QUEUES, NUMBER, Long.BYTES),
                            RackcallCall.subject("vq-noop-agent", QUEUES_OF_AGENT, NUMBER, Long.BYTES),
                            GrpcCall.beside("grpc-tcp-64", "rdma-value-64", 64),
                            GrpcCall.beside("grpc-tcp-4096", "rdma-value-4096", 4096),
                            GrpcGraphCall.beside("grpc-tcp-1048576", "rdma-ref-1048576", 1 << 20)),
                    ThreadedCalls.subjects(),
                    GrpcProtobuf.subjects(),
                    CrowdTarget.subjects(),
                    YcsbTarget.subjects(),
                    RareTarget.subjects(),
                    SocialTarget.subjects(),
                    ConnectSides.subjects(),
                    List.of(
                            RackcallCall.subject("rpc-vq", QUEUES, CONNECTION, 0),
                            RackcallCall.subject("rpc-rdma", RDMA, CONNECTION, 0),
                            ElasticSides.subject(true, false),
                            ElasticSides.subject(false, false),
                            ElasticSides.subject(true, true),
                            ElasticSides.subject(false, true)),
                    IsolationSubjects.all(),
                    ReportedCall.subjects())
            .flatMap(List::stream)
            .toList();

    private Subjects() {}

    static List<Subject> all() {
        return ALL;
    }

    static Subject named(String name) {
        return ALL.stream()
                .filter(subject -> subject.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new UnknownSubjectException(name));
    }

    /** All names that users can choose. */
    static List<String> names() {
        return Stream.concat(ALL.stream().map(Subject::name), LockTarget.names().stream())
                .toList();
    }

    /** The subjects of those names, in the order of the report; all if there are no names. */
    static List<Subject> only(List<String> names) {
        List<Subject> wanted = names.stream().map(Subjects::named).toList();
        return wanted.isEmpty() ? ALL : ALL.stream().filter(wanted::contains).toList();
    }
}
