package dev.rackcall.rpc;

/**
 * Who is at the other end, as the kernel says it, not as the peer does; only for a client on another host of a pool ({@link RpcServer.Builder#pool}) as it says
 * itself, since no kernel knows.
 *
 * @param pid process id in this process's pid namespace (0 if it lies outside)
 * @param uid effective user id
 * @param gid effective group id
 */
public record Peer(int pid, int uid, int gid) {
    @Override
    public String toString() {
        return "pid " + pid + " (uid " + uid + ")";
    }
}
