package dev.rackcall.grpc;

import dev.rackcall.grpc.wire.PipeConnection;
import dev.rackcall.rpc.Peer;
import java.net.SocketAddress;

/** The address of an end of a connection, as far as the other end knows it: a process of this host, or of another. */
final class PeerAddress extends SocketAddress {
    private static final long serialVersionUID = 1L;

    private final String text;

    private PeerAddress(String text) {
        this.text = text;
    }

    static PeerAddress of(Peer process) {
        return new PeerAddress("pid " + process.pid() + " (uid " + process.uid() + ")");
    }

    static PeerAddress ofPeer(PipeConnection connection) {
        return RackcallAttributes.peer(connection).map(PeerAddress::of).orElse(new PeerAddress(connection.peerName()));
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof PeerAddress that && text.equals(that.text);
    }

    @Override
    public int hashCode() {
        return text.hashCode();
    }

    @Override
    public String toString() {
        return text;
    }
}
