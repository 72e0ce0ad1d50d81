package dev.rackcall.grpc;

import dev.rackcall.grpc.wire.PipeConnection;
import dev.rackcall.rpc.Peer;
import dev.rackcall.shm.os.socket.PeerCredentials;
import io.grpc.Attributes;
import io.grpc.Grpc;
import io.grpc.SecurityLevel;
import io.grpc.internal.GrpcAttributes;
import java.net.SocketAddress;

/** Attributes of a call's connection, in addition to gRPC's own in {@link Grpc}. */
public final class RackcallAttributes {
    /**
     * The process at the other end, as the kernel reported it at connect. Set at the server and at the client. A server
     * reads it from {@code ServerCall.getAttributes()}.
     */
    public static final Attributes.Key<Peer> PEER = Attributes.Key.create("dev.rackcall.grpc.peer");

    private RackcallAttributes() {}

    static Peer peer(PipeConnection connection) {
        PeerCredentials credentials = connection.peer();
        return new Peer(credentials.pid(), credentials.uid(), credentials.gid());
    }

    /** Only the two processes have the memory, and only the kernel and this user can give it to others. */
    static Attributes.Builder of(PipeConnection connection, SocketAddress local, SocketAddress remote) {
        return Attributes.newBuilder()
                .set(PEER, peer(connection))
                .set(GrpcAttributes.ATTR_SECURITY_LEVEL, SecurityLevel.PRIVACY_AND_INTEGRITY)
                .set(Grpc.TRANSPORT_ATTR_LOCAL_ADDR, local)
                .set(Grpc.TRANSPORT_ATTR_REMOTE_ADDR, remote);
    }
}
