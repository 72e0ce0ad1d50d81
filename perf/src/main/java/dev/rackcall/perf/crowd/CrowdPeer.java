package dev.rackcall.perf.crowd;

import dev.rackcall.perf.calls.BenchTransport;
import dev.rackcall.perf.calls.RackcallCall;
import dev.rackcall.perf.harness.Subject;
import dev.rackcall.perf.peers.AeronIpc;
import dev.rackcall.perf.peers.AeronStreams;
import dev.rackcall.perf.peers.GrpcCall;
import dev.rackcall.perf.peers.GrpcTransport;
import dev.rackcall.perf.peers.UnixSocketEcho;

/** What the clients call through; the order of the constants is the order of the turns. */
enum CrowdPeer {
    RACKCALL("rackcall", 32),
    UDS("uds", 32),
    /** With eight clients already, the two processors need seconds for the start of their JVMs. */
    GRPC_UDS("grpc-uds", 8),
    GRPC_RACKCALL("grpc-rackcall", 8),
    /** Each client needs memory for two streams. */
    AERON("aeron", 4);

    /** There and back. */
    static final int BYTES = 64;

    private final String word;
    private final int mostClients;

    CrowdPeer(String word, int mostClients) {
        this.word = word;
        this.mostClients = mostClients;
    }

    /** Its part of the names of results. */
    String word() {
        return word;
    }

    int mostClients() {
        return mostClients;
    }

    /** The subject of that name whose two sides call through this. */
    Subject subject(String name) {
        return switch (this) {
            case RACKCALL ->
                RackcallCall.subject(name, BenchTransport.SHARED_MEMORY, RackcallCall.Argument.VALUE, BYTES);
            case UDS -> Subject.of(name, BYTES, UnixSocketEcho.settings(), new UnixSocketEcho(BYTES));
            case GRPC_UDS -> GrpcCall.subject(name, GrpcTransport.UNIX_SOCKET, BYTES);
            case GRPC_RACKCALL -> GrpcCall.subject(name, GrpcTransport.RACKCALL, BYTES);
            case AERON ->
                Subject.of(name, BYTES, AeronStreams.settings(), new AeronStreams(BYTES))
                        .withFlags(AeronIpc.FLAGS);
        };
    }
}
