package dev.rackcall.rpc.containers;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import dev.rackcall.shm.os.CallState;
import dev.rackcall.shm.os.Errno;
import dev.rackcall.shm.os.Linkage;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.stream.IntStream;

/**
 * Refuses, in this process, the system calls that Rackcall or the JDK may try and that Docker's default seccomp profile refuses to a process
 * without capabilities (moby/profiles/seccomp/default.json).
 */
final class ContainerProfile {
    private static final boolean IS_ARM = System.getProperty("os.arch").equals("aarch64");
    private static final long PRCTL = IS_ARM ? 167 : 157;
    private static final long SECCOMP = IS_ARM ? 277 : 317;
    private static final int PR_SET_NO_NEW_PRIVS = 38;
    private static final int SECCOMP_SET_MODE_FILTER = 1;
    private static final int SECCOMP_FILTER_FLAG_TSYNC = 1;

    /** userfaultfd, mbind, set_mempolicy, get_mempolicy, move_pages, perf_event_open, bpf. */
    private static final int[] REFUSED_BY_MACHINE =
            IS_ARM ? new int[] {282, 235, 237, 236, 239, 241, 280} : new int[] {323, 237, 238, 239, 279, 298, 321};
    /** io_uring_setup, io_uring_enter, io_uring_register, pidfd_getfd, process_madvise. */
    private static final int[] REFUSED = {425, 426, 427, 438, 440};

    private ContainerProfile() {}

    static void apply() {
        int[] numbers = IntStream.concat(IntStream.of(REFUSED_BY_MACHINE), IntStream.of(REFUSED))
                .toArray();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment filter = arena.allocate(8L * (numbers.length + 3), 8);
            // The system call's number, at offset 0 of struct seccomp_data.
            instruction(filter, 0, 0x20, 0, 0);
            for (int i = 0; i < numbers.length; i++) {
                instruction(filter, i + 1, 0x15, numbers.length - i, numbers[i]);
            }
            instruction(filter, numbers.length + 1, 0x06, 0, 0x7fff_0000);
            instruction(filter, numbers.length + 2, 0x06, 0, 0x0005_0000 | Errno.EPERM);
            MemorySegment program = arena.allocate(16, 8);
            program.set(JAVA_SHORT, 0, (short) (numbers.length + 3));
            program.set(JAVA_LONG, 8, filter.address());
            require(PRCTL, PR_SET_NO_NEW_PRIVS, 1, 0);
            require(SECCOMP, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, program.address());
        }
    }

    private static void instruction(MemorySegment filter, int index, int code, int jumpIfTrue, int value) {
        filter.set(JAVA_SHORT, 8L * index, (short) code);
        filter.set(JAVA_BYTE, 8L * index + 2, (byte) jumpIfTrue);
        filter.set(JAVA_INT, 8L * index + 4, value);
    }

    private static void require(long number, long a, long b, long c) {
        CallState state = CallState.current();
        if (Linkage.syscall(state.errnoSegment(), number, a, b, c, 0, 0) != 0) {
            throw state.failure("system call " + number);
        }
    }
}
