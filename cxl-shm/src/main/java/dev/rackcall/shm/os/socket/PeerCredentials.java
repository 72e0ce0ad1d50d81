package dev.rackcall.shm.os.socket;

/**
 * The process at the other end when the socket was connected, as the kernel recorded it (SO_PEERCRED).
 *
 * @param pid process id in this process's namespace; 0 if it has none there
 * @param uid effective user id
 * @param gid effective group id
 */
public record PeerCredentials(int pid, int uid, int gid) {}
