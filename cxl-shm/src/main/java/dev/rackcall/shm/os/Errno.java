package dev.rackcall.shm.os;

import java.util.Map;

/** The errno values that this project judges or names (Linux, all 64-bit architectures; errno(3)). */
final class Errno {
    static final int EPERM = 1;
    static final int ENOENT = 2;
    static final int EINTR = 4;
    static final int ENXIO = 6;
    static final int EBADF = 9;
    static final int EAGAIN = 11;
    static final int ENOMEM = 12;
    static final int EACCES = 13;
    static final int EFAULT = 14;
    static final int EEXIST = 17;
    static final int ENODEV = 19;
    static final int ENOTDIR = 20;
    static final int EISDIR = 21;
    static final int EINVAL = 22;
    static final int ENFILE = 23;
    static final int EMFILE = 24;
    static final int EFBIG = 27;
    static final int ENOSPC = 28;
    static final int EROFS = 30;
    static final int EPIPE = 32;
    static final int ENAMETOOLONG = 36;
    static final int ENOSYS = 38;
    static final int ELOOP = 40;
    static final int EMSGSIZE = 90;
    static final int EPROTOTYPE = 91;
    static final int EOPNOTSUPP = 95;
    static final int EADDRINUSE = 98;
    static final int ECONNABORTED = 103;
    static final int ECONNRESET = 104;
    static final int ENOBUFS = 105;
    static final int ENOTCONN = 107;
    static final int ETIMEDOUT = 110;
    static final int ECONNREFUSED = 111;

    private static final Map<Integer, String> NAMES = Map.ofEntries(
            Map.entry(EPERM, "EPERM"),
            Map.entry(ENOENT, "ENOENT"),
            Map.entry(EINTR, "EINTR"),
            Map.entry(ENXIO, "ENXIO"),
            Map.entry(EBADF, "EBADF"),
            Map.entry(EAGAIN, "EAGAIN"),
            Map.entry(ENOMEM, "ENOMEM"),
            Map.entry(EACCES, "EACCES"),
            Map.entry(EFAULT, "EFAULT"),
            Map.entry(EEXIST, "EEXIST"),
            Map.entry(ENODEV, "ENODEV"),
            Map.entry(ENOTDIR, "ENOTDIR"),
            Map.entry(EISDIR, "EISDIR"),
            Map.entry(EINVAL, "EINVAL"),
            Map.entry(ENFILE, "ENFILE"),
            Map.entry(EMFILE, "EMFILE"),
            Map.entry(EFBIG, "EFBIG"),
            Map.entry(ENOSPC, "ENOSPC"),
            Map.entry(EROFS, "EROFS"),
            Map.entry(EPIPE, "EPIPE"),
            Map.entry(ENAMETOOLONG, "ENAMETOOLONG"),
            Map.entry(ENOSYS, "ENOSYS"),
            Map.entry(ELOOP, "ELOOP"),
            Map.entry(EMSGSIZE, "EMSGSIZE"),
            Map.entry(EPROTOTYPE, "EPROTOTYPE"),
            Map.entry(EOPNOTSUPP, "EOPNOTSUPP"),
            Map.entry(EADDRINUSE, "EADDRINUSE"),
            Map.entry(ECONNABORTED, "ECONNABORTED"),
            Map.entry(ECONNRESET, "ECONNRESET"),
            Map.entry(ENOBUFS, "ENOBUFS"),
            Map.entry(ENOTCONN, "ENOTCONN"),
            Map.entry(ETIMEDOUT, "ETIMEDOUT"),
            Map.entry(ECONNREFUSED, "ECONNREFUSED"));

    private Errno() {}

    static String name(int errno) {
        return NAMES.getOrDefault(errno, "errno");
    }
}
