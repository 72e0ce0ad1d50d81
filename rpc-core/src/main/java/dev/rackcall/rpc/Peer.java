package dev.rackcall.rpc;

/**
 * The process at the other end, as the kernel reports it. A client on another host of a pool ({@link
 * RpcServer.Builder#pool}) states these values itself, because this host's kernel cannot report them.
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
