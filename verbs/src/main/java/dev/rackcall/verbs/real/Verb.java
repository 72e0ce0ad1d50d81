package dev.rackcall.verbs.real;

import dev.rackcall.verbs.Errno;
import dev.rackcall.verbs.VerbsException;
import dev.rackcall.verbs.ffi.CallState;

/** Judges what verbs return. */
final class Verb {
    private static final String DEFAULT_ADVICE = "see the device's limits (rackcall doctor, ibv_devinfo -v)";

    private Verb() {}

    /** For verbs that return a pointer: null is failure, with errno. */
    static long pointer(long result, String what) {
        if (result == 0) {
            throw failure(what, CallState.errno());
        }
        return result;
    }

    /** For verbs that return 0 or an errno value; some return -1 and set errno. */
    static void zero(int result, String what) {
        if (result != 0) {
            throw failure(what, result > 0 ? result : CallState.errno());
        }
    }

    static VerbsException failure(String what, int errno) {
        return new VerbsException(what, errno, advice(errno));
    }

    private static String advice(int errno) {
        return switch (errno) {
            case Errno.ENOMEM -> "raise the limit of locked memory (ulimit -l) or ask for less";
            case Errno.EBUSY -> "close first what was made from it";
            case Errno.EPERM, Errno.EACCES -> "let this user open /dev/infiniband/uverbs*";
            case Errno.EINVAL -> "check the values against the device's limits and the object's state";
            case Errno.EOPNOTSUPP, Errno.ENOSYS -> "this device or kernel cannot do it";
            default -> DEFAULT_ADVICE;
        };
    }
}
