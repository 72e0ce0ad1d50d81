package dev.rackcall.verbs;

import java.util.Map;

/** The errno values that verbs fail with (errno(3), Linux). */
public final class VerbsErrno {
    /** Not allowed. */
    public static final int EPERM = 1;
    /** No such thing. */
    public static final int ENOENT = 2;
    /** Try again. */
    public static final int EAGAIN = 11;
    /** No memory, or a queue is full. */
    public static final int ENOMEM = 12;
    /** Permission denied. */
    public static final int EACCES = 13;
    /** Not an address of this process. */
    public static final int EFAULT = 14;
    /** In use. */
    public static final int EBUSY = 16;
    /** No such device. */
    public static final int ENODEV = 19;
    /** Not a valid value or not a valid state. */
    public static final int EINVAL = 22;
    /** No such system call: the kernel has no RDMA. */
    public static final int ENOSYS = 38;
    /** Not supported by this device. */
    public static final int EOPNOTSUPP = 95;
    /** Address in use. */
    public static final int EADDRINUSE = 98;
    /** Address not of this host. */
    public static final int EADDRNOTAVAIL = 99;
    /** The network is down. */
    public static final int ENETDOWN = 100;
    /** Timed out. */
    public static final int ETIMEDOUT = 110;

    private static final Map<Integer, String> NAMES = Map.ofEntries(
            Map.entry(EPERM, "EPERM"),
            Map.entry(ENOENT, "ENOENT"),
            Map.entry(EAGAIN, "EAGAIN"),
            Map.entry(ENOMEM, "ENOMEM"),
            Map.entry(EACCES, "EACCES"),
            Map.entry(EFAULT, "EFAULT"),
            Map.entry(EBUSY, "EBUSY"),
            Map.entry(ENODEV, "ENODEV"),
            Map.entry(EINVAL, "EINVAL"),
            Map.entry(ENOSYS, "ENOSYS"),
            Map.entry(EOPNOTSUPP, "EOPNOTSUPP"),
            Map.entry(EADDRINUSE, "EADDRINUSE"),
            Map.entry(EADDRNOTAVAIL, "EADDRNOTAVAIL"),
            Map.entry(ENETDOWN, "ENETDOWN"),
            Map.entry(ETIMEDOUT, "ETIMEDOUT"));

    private VerbsErrno() {}

    /** {@code EINVAL} or {@code errno 77}. */
    public static String name(int errno) {
        return NAMES.getOrDefault(errno, "errno " + errno);
    }
}
