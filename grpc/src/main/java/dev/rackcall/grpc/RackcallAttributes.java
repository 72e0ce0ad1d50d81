package dev.rackcall.grpc;

import dev.rackcall.grpc.wire.PipeConnection;
import dev.rackcall.rpc.Peer;
import io.grpc.Attributes;
import io.grpc.Grpc;
import io.grpc.SecurityLevel;
import io.grpc.internal.GrpcAttributes;
import java.net.SocketAddress;
import java.util.Optional;

/** Attributes of a call's connection, in addition to gRPC's own in {@link Grpc}. */
public final class RackcallAttributes {
    /**
     * The process at the other end, as the kernel reported it at connect. Set at the server and at the client, but for
     * connections to other hosts. A server reads it from {@code ServerCall.getAttributes()}.
     */
    public static final Attributes.Key<Peer> PEER = Attributes.Key.create("dev.rackcall.grpc.peer");

    private RackcallAttributes() {}

    static Optional<Peer> peer(PipeConnection connection) {
        return connection.peer().map(process -> new Peer(process.pid(), process.uid(), process.gid()));
    }

    /**
     * Inside a host, only the two processes have the memory, and only the kernel and this user can give it to others. A
     * carrier does not say whether it encrypts, so nothing is promised there.
     */
    static Attributes.Builder of(PipeConnection connection, SocketAddress local, SocketAddress remote) {
        Optional<Peer> peer = peer(connection);
        Attributes.Builder attributes = Attributes.newBuilder();
        peer.ifPresent(process -> attributes.set(PEER, process));
        return attributes
                .set(
                        GrpcAttributes.ATTR_SECURITY_LEVEL,
                        peer.isPresent() ? SecurityLevel.PRIVACY_AND_INTEGRITY : SecurityLevel.NONE)
                .set(Grpc.TRANSPORT_ATTR_LOCAL_ADDR, local)
                .set(Grpc.TRANSPORT_ATTR_REMOTE_ADDR, remote);
    }
}
