package dev.rackcall.perf;

import java.util.List;
import java.util.stream.Stream;

/** All that can be measured, in the order of the report. */
final class Subjects {
    private static final List<Subject> CALLS = List.of(
            new RawPingPong(),
            new RackcallSubject("rackcall-noop", Road.SHARED_MEMORY, RackcallSubject.Argument.NUMBER, Long.BYTES),
            new RackcallSubject("rackcall-value-64", Road.SHARED_MEMORY, RackcallSubject.Argument.VALUE, 64),
            new RackcallSubject("rackcall-value-4096", Road.SHARED_MEMORY, RackcallSubject.Argument.VALUE, 4096),
            new RackcallSubject("rackcall-value-1048576", Road.SHARED_MEMORY, RackcallSubject.Argument.VALUE, 1 << 20),
            new RackcallSubject("rackcall-ref-1048576", Road.SHARED_MEMORY, RackcallSubject.Argument.POINTER, 1 << 20),
            new AeronIpc(),
            new GrpcSubject("grpc-inprocess", GrpcTransport.IN_PROCESS, 64),
            new GrpcSubject("grpc-uds", GrpcTransport.UNIX_SOCKET, 64),
            new GrpcSubject("grpc-uds-4096", GrpcTransport.UNIX_SOCKET, 4096),
            new GrpcSubject("grpc-uds-1048576", GrpcTransport.UNIX_SOCKET, 1 << 20),
            new GrpcSubject("grpc-tcp", GrpcTransport.TCP, 64),
            new SoftPingPong("soft-pingpong", true),
            new SoftPingPong("soft-pingpong-send", false),
            new RackcallSubject("rdma-noop", Road.RDMA, RackcallSubject.Argument.NUMBER, Long.BYTES),
            new RackcallSubject("rdma-value-64", Road.RDMA, RackcallSubject.Argument.VALUE, 64),
            new RackcallSubject("rdma-value-4096", Road.RDMA, RackcallSubject.Argument.VALUE, 4096),
            new RackcallSubject("rdma-ref-1048576", Road.RDMA, RackcallSubject.Argument.POINTER, 1 << 20),
            new RackcallSubject("vq-noop", Road.QUEUES, RackcallSubject.Argument.NUMBER, Long.BYTES),
            new RackcallSubject("vq-noop-agent", Road.QUEUES_OF_AGENT, RackcallSubject.Argument.NUMBER, Long.BYTES),
            GrpcSubject.beside("grpc-tcp-64", "rdma-value-64", 64),
            GrpcSubject.beside("grpc-tcp-4096", "rdma-value-4096", 4096),
            new GrpcGraphSubject("grpc-tcp-1048576", "rdma-ref-1048576", 1 << 20),
            new ConnectSubject(ConnectSubject.Kind.CACHED),
            new ConnectSubject(ConnectSubject.Kind.UNCACHED),
            new ConnectSubject(ConnectSubject.Kind.FIRST),
            new ConnectSubject(ConnectSubject.Kind.AGENT),
            new ConnectSubject(ConnectSubject.Kind.HOP),
            new ConnectSubject(ConnectSubject.Kind.FRESH_RC),
            new ConnectSubject(ConnectSubject.Kind.READ),
            new RpcConnectSubject("rpc-vq", Road.QUEUES),
            new RpcConnectSubject("rpc-rdma", Road.RDMA),
            new ElasticSubject(true, ElasticSubject.Work.FIRST),
            new ElasticSubject(false, ElasticSubject.Work.FIRST),
            new ElasticSubject(true, ElasticSubject.Work.EACH),
            new ElasticSubject(false, ElasticSubject.Work.EACH));

    private static final List<Subject> ALL =
            Stream.concat(CALLS.stream(), IsolationSubjects.all().stream()).toList();

    private Subjects() {}

    static List<Subject> all() {
        return ALL;
    }

    /** The subject of that name. */
    static Subject named(String name) {
        return ALL.stream()
                .filter(subject -> subject.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new UnknownSubjectException(name));
    }

    /** All names by which something can be asked for. */
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
