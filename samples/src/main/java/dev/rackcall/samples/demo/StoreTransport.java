package dev.rackcall.samples.demo;

import java.util.List;

/** The transports between a client and the store. */
public enum StoreTransport {
    /** Rackcall: documents are built in shared memory, and a Ref crosses. */
    POINTER("by pointer"),
    /** By hand: documents cross as JSON, through a Unix domain socket. */
    SERIALISED("as JSON"),
    /** With a framework: documents cross as protobuf messages by grpc-java, through a Unix domain socket. */
    GRPC("by gRPC", "--sun-misc-unsafe-memory-access=allow", "-Dorg.slf4j.simpleLogger.log.io.grpc.netty.shaded=error");

    private final String title;
    private final List<String> flags;

    StoreTransport(String title, String... flags) {
        this.title = title;
        this.flags = List.of(flags);
    }

    /**
     * JVM flags without which its libraries print warnings: Netty and protobuf use the JVM's old access to memory, and
     * gRPC sets a socket option that Unix sockets do not have.
     */
    List<String> flags() {
        return flags;
    }

    String title() {
        return title;
    }
}
