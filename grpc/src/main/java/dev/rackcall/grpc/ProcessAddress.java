package dev.rackcall.grpc;

import dev.rackcall.rpc.Peer;
import java.net.SocketAddress;

/** A client's address as a server sees it: a process of this host. */
final class ProcessAddress extends SocketAddress {
    private static final long serialVersionUID = 1L;

    private final int pid;
    private final int uid;

    ProcessAddress(Peer peer) {
        this.pid = peer.pid();
        this.uid = peer.uid();
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof ProcessAddress that && pid == that.pid && uid == that.uid;
    }

    @Override
    public int hashCode() {
        return pid;
    }

    @Override
    public String toString() {
        return "pid " + pid + " (uid " + uid + ")";
    }
}
