package dev.rackcall.soak;

import dev.rackcall.testkit.FreePort;
import java.nio.file.Path;
import java.util.Locale;

/** What carries the calls between two processes of a soak. */
enum SoakTransport {
    /** Memory that both map, over a connection of their own. */
    MEMORY,
    /** A pool that several hosts map: each role of the soak, and each short-lived peer, is a host of it. */
    POOL,
    /** Mirrored memory over the software device. */
    SOFT,
    /** The same, with certificates. */
    TLS,
    /** Mirrored memory over virtual queues of agents in another process. */
    QUEUES,
    /** grpc-java's calls over shared memory. */
    GRPC;

    /** The host of queues' servers. */
    static final String SERVER_HOST = "server";
    /** The host of queues' clients. */
    static final String CLIENT_HOST = "client";

    /** A name for files and reports. */
    String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** Everything that processes of this transport write to. */
    Path folder(Path root) {
        return root.resolve(word());
    }

    /** The runtime folder of its servers, or of its clients. Each host of queues has its own. */
    Path runtime(Path root, boolean ofServers) {
        return this == QUEUES ? folder(root).resolve(ofServers ? SERVER_HOST : CLIENT_HOST) : folder(root);
    }

    /** The pool's file. */
    static Path poolFile(Path root) {
        return root.resolve("pool.file");
    }

    /**
     * Where a server listens, or "-" if its channel's name is enough.
     *
     * @param number distinguishes the servers of this transport
     */
    String address(int number) {
        return switch (this) {
            case SOFT, TLS -> "soft://127.0.0.1:" + FreePort.find();
            case QUEUES -> "vq://" + SERVER_HOST + ":" + (7 + number);
            default -> "-";
        };
    }

    /**
     * Whether a peer counts as gone after seconds of silence, as docs/rdma.md and RpcServer.Builder.pool say. On a busy machine a
     * survivor may be that silent, so its connections can end.
     */
    boolean endsBySilence() {
        return this != MEMORY && this != GRPC;
    }

    /** Whether the memory of the dead returns when the operator says so. */
    boolean isPool() {
        return this == POOL;
    }
}
