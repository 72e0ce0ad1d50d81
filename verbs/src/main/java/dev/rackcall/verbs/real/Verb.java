package dev.rackcall.verbs.real;

import dev.rackcall.verbs.VerbsErrno;
import dev.rackcall.verbs.VerbsException;
import dev.rackcall.verbs.ffi.CapturedErrno;

/** Converts return codes of verbs to exceptions. */
final class Verb {
    private static final String DEFAULT_ADVICE = "see the device's limits (rackcall doctor, ibv_devinfo -v)";

    private Verb() {}

    /** For verbs that return a pointer, or null and errno on failure. */
    static long pointer(long result, String what) {
        if (result == 0) {
            throw failure(what, CapturedErrno.errno());
        }
        return result;
    }

    /** For verbs that return 0 or an errno value; some return -1 and set errno. */
    static void zero(int result, String what) {
        if (result != 0) {
            throw failure(what, result > 0 ? result : CapturedErrno.errno());
        }
    }

    static VerbsException failure(String what, int errno) {
        return new VerbsException(what, errno, advice(errno));
    }

    private static String advice(int errno) {
        return switch (errno) {
            case VerbsErrno.ENOMEM -> "raise the limit of locked memory (ulimit -l) or ask for less";
            case VerbsErrno.EBUSY -> "first close the objects created from it";
            case VerbsErrno.EPERM, VerbsErrno.EACCES -> "let this user open /dev/infiniband/uverbs*";
            case VerbsErrno.EINVAL -> "check the values against the device's limits and the object's state";
            case VerbsErrno.EOPNOTSUPP, VerbsErrno.ENOSYS -> "this device or kernel cannot do it";
            default -> DEFAULT_ADVICE;
        };
    }
}
