package dev.rackcall.sandbox.os;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import dev.rackcall.shm.os.Abi;
import dev.rackcall.shm.os.Errno;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Main of a child: forbids itself userfaultfd(2), as a container's seccomp profile does, and tries it. */
final class ForbiddenUserfault {
    private static final int PR_SET_SECCOMP = 22;
    private static final int PR_SET_NO_NEW_PRIVS = 38;
    private static final int SECCOMP_MODE_FILTER = 2;

    private ForbiddenUserfault() {}

    public static void main(String[] arguments) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment filter = arena.allocate(4 * 8, 8);
            instruction(filter, 0, 0x20, 0, 0, 0); // load the system call's number
            instruction(filter, 1, 0x15, 0, 1, (int) Abi.current().userfaultfd());
            instruction(filter, 2, 0x06, 0, 0, 0x0005_0000 | Errno.EPERM);
            instruction(filter, 3, 0x06, 0, 0, 0x7fff_0000); // allow
            MemorySegment program = arena.allocate(16, 8);
            program.set(JAVA_SHORT, 0, (short) 4);
            program.set(JAVA_LONG, 8, filter.address());
            require(Raw.call("prctl", PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
            require(Raw.call("prctl", PR_SET_SECCOMP, SECCOMP_MODE_FILTER, program.address(), 0, 0));
        }
        try {
            Userfault.open().close();
            System.out.println("allowed");
        } catch (UnsupportedFeatureException e) {
            System.out.println(e.getMessage());
        }
    }

    private static void instruction(MemorySegment filter, int index, int code, int yes, int no, int value) {
        filter.set(JAVA_SHORT, 8L * index, (short) code);
        filter.set(JAVA_BYTE, 8L * index + 2, (byte) yes);
        filter.set(JAVA_BYTE, 8L * index + 3, (byte) no);
        filter.set(JAVA_INT, 8L * index + 4, value);
    }

    private static void require(long result) {
        if ((int) result != 0) {
            throw new AssertionError("prctl: " + result);
        }
    }
}
