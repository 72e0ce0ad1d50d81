package dev.rackcall.shm.os;

import java.lang.reflect.Field;
import java.util.HashMap;
import java.util.Map;

/** The errno values that this project handles or names (Linux, all 64-bit architectures; errno(3)). */
public final class Errno {
    public static final int EPERM = 1;
    public static final int ENOENT = 2;
    public static final int EINTR = 4;
    public static final int ENXIO = 6;
    public static final int EBADF = 9;
    public static final int EAGAIN = 11;
    public static final int ENOMEM = 12;
    public static final int EACCES = 13;
    public static final int EFAULT = 14;
    public static final int EBUSY = 16;
    public static final int EEXIST = 17;
    public static final int ENODEV = 19;
    public static final int ENOTDIR = 20;
    public static final int EISDIR = 21;
    public static final int EINVAL = 22;
    public static final int ENFILE = 23;
    public static final int EMFILE = 24;
    public static final int EFBIG = 27;
    public static final int ENOSPC = 28;
    public static final int EROFS = 30;
    public static final int EPIPE = 32;
    public static final int ENAMETOOLONG = 36;
    public static final int ENOSYS = 38;
    public static final int ELOOP = 40;
    public static final int EMSGSIZE = 90;
    public static final int EPROTOTYPE = 91;
    public static final int EOPNOTSUPP = 95;
    public static final int EADDRINUSE = 98;
    public static final int ECONNABORTED = 103;
    public static final int ECONNRESET = 104;
    public static final int ENOBUFS = 105;
    public static final int ENOTCONN = 107;
    public static final int ETIMEDOUT = 110;
    public static final int ECONNREFUSED = 111;

    private static final Map<Integer, String> NAMES = names();

    private Errno() {}

    /** The C name, or "errno" for an unknown value. */
    public static String name(int errno) {
        return NAMES.getOrDefault(errno, "errno");
    }

    private static Map<Integer, String> names() {
        Map<Integer, String> names = new HashMap<>();
        try {
            for (Field constant : Errno.class.getFields()) {
                names.put(constant.getInt(null), constant.getName());
            }
        } catch (IllegalAccessException e) {
            throw new ExceptionInInitializerError(e);
        }
        return names;
    }
}
