package dev.rackcall.sandbox.os;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import dev.rackcall.shm.os.Abi;
import dev.rackcall.shm.os.CallState;
import dev.rackcall.shm.os.Errno;
import dev.rackcall.shm.os.Linkage;
import dev.rackcall.shm.os.OsException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Prevents a process permanently from undoing the seals that another process holds for it. Its mapping can no longer be
 * changed (mseal(2)) and is not inherited by children (MADV_DONTFORK). Its threads and children may not make the system
 * calls that would undo this (seccomp(2)).
 */
public final class Lockdown {
    private static final int MADV_DONTFORK = 10;
    private static final int MADV_DOFORK = 11;
    private static final int PR_SET_NO_NEW_PRIVS = 38;
    private static final int SECCOMP_SET_MODE_FILTER = 1;
    private static final int SECCOMP_FILTER_FLAG_TSYNC = 1;
    private static final int ALLOW = 0x7fff_0000;
    private static final int REFUSE = 0x0005_0000 | Errno.EPERM;
    private static final long SYS_IO_URING_SETUP = 425;
    /** Since Linux 6.13, a process can apply MADV_DOFORK to its own memory with it, so the whole call is forbidden. */
    private static final long SYS_PROCESS_MADVISE = 440;

    private static final int LOAD = 0x20;
    private static final int JUMP_IF_EQUAL = 0x15;
    private static final int JUMP_IF_GREATER_OR_EQUAL = 0x35;
    private static final int AND = 0x54;
    private static final int RETURN = 0x06;
    private static final int NUMBER = 0;
    private static final int ARCHITECTURE = 4;
    private static final int SECOND_ARGUMENT = 24;
    private static final int THIRD_ARGUMENT = 32;

    private Lockdown() {}

    /** System call numbers of one processor architecture. */
    private record Numbers(int auditArchitecture, long seccomp, int ioctl, int madvise, int firstForeign) {
        static Numbers current() {
            // Numbers from 0x40000000 on belong to x86's third system call table, x32.
            return System.getProperty("os.arch").equals("aarch64")
                    ? new Numbers(0xC000_00B7, 277, 29, 233, 0x4000_0000)
                    : new Numbers(0xC000_003E, 317, 16, 28, 0x4000_0000);
        }
    }

    /**
     * Fixes a mapping until this process ends: it cannot be unmapped, moved, mapped over or given another protection,
     * and children do not inherit it.
     *
     * @throws UnsupportedFeatureException if the kernel has no mseal (before Linux 6.10)
     */
    public static void fix(long address, long bytes) {
        CallState state = CallState.current();
        if (LibcPages.madvise(state.errnoSegment(), address, bytes, MADV_DONTFORK) != 0) {
            throw state.failure("madvise(MADV_DONTFORK) of " + Userfault.range(address, bytes));
        }
        if (Linkage.syscall(state.errnoSegment(), Abi.SYS_MSEAL, address, bytes, 0, 0, 0) != 0) {
            OsException cause = state.failure("mseal of " + Userfault.range(address, bytes));
            throw new UnsupportedFeatureException(
                    "This kernel has no mseal, so a process could unmap sealed memory; Linux 6.10 or newer has it.",
                    cause);
        }
    }

    /**
     * Refuses these system calls with EPERM to all threads of this process and to their children: userfaultfd(2), all
     * ioctls of userfaultfd, MADV_DOFORK, process_madvise(2), io_uring, and all calls of other system call tables than
     * the processor's native one.
     *
     * @throws UnsupportedFeatureException if the kernel has no seccomp filters, or another filter forbids them
     */
    public static void forbidLifting() {
        CallState state = CallState.current();
        Numbers numbers = Numbers.current();
        try (Arena arena = Arena.ofConfined()) {
            Filter filter = new Filter(arena);
            int userfaultfd = (int) Abi.current().userfaultfd();
            // A jump counts the instructions that it skips.
            filter.add(LOAD, 0, 0, ARCHITECTURE);
            filter.add(JUMP_IF_EQUAL, 0, 14, numbers.auditArchitecture());
            filter.add(LOAD, 0, 0, NUMBER);
            filter.add(JUMP_IF_GREATER_OR_EQUAL, 12, 0, numbers.firstForeign());
            filter.add(JUMP_IF_EQUAL, 11, 0, userfaultfd);
            filter.add(JUMP_IF_EQUAL, 10, 0, (int) SYS_IO_URING_SETUP);
            filter.add(JUMP_IF_EQUAL, 9, 0, (int) SYS_PROCESS_MADVISE);
            filter.add(JUMP_IF_EQUAL, 0, 4, numbers.ioctl());
            filter.add(LOAD, 0, 0, SECOND_ARGUMENT);
            filter.add(AND, 0, 0, 0xff00);
            filter.add(JUMP_IF_EQUAL, 5, 0, 0xAA00);
            filter.add(RETURN, 0, 0, ALLOW);
            filter.add(JUMP_IF_EQUAL, 0, 2, numbers.madvise());
            filter.add(LOAD, 0, 0, THIRD_ARGUMENT);
            filter.add(JUMP_IF_EQUAL, 1, 0, MADV_DOFORK);
            filter.add(RETURN, 0, 0, ALLOW);
            filter.add(RETURN, 0, 0, REFUSE);
            if (LibcPages.prctl(state.errnoSegment(), PR_SET_NO_NEW_PRIVS, 1) != 0
                    || Linkage.syscall(
                                    state.errnoSegment(),
                                    numbers.seccomp(),
                                    SECCOMP_SET_MODE_FILTER,
                                    SECCOMP_FILTER_FLAG_TSYNC,
                                    filter.program().address(),
                                    0,
                                    0)
                            != 0) {
                throw new UnsupportedFeatureException(
                        "This process cannot forbid itself to lift seals: seccomp filters are missing or forbidden.",
                        state.failure("seccomp"));
            }
        }
    }

    /** A struct sock_fprog and its instructions. */
    private static final class Filter {
        private static final int MAX = 17;
        private static final int INSTRUCTION_BYTES = 8;

        private final MemorySegment program;
        private final MemorySegment instructions;
        private int count;

        Filter(Arena arena) {
            instructions = arena.allocate(MAX * INSTRUCTION_BYTES, 8);
            program = arena.allocate(16, 8);
            program.set(JAVA_LONG, 8, instructions.address());
        }

        void add(int code, int ifTrue, int ifFalse, int value) {
            long at = (long) count++ * INSTRUCTION_BYTES;
            instructions.set(JAVA_SHORT, at, (short) code);
            instructions.set(JAVA_BYTE, at + 2, (byte) ifTrue);
            instructions.set(JAVA_BYTE, at + 3, (byte) ifFalse);
            instructions.set(JAVA_INT, at + 4, value);
        }

        MemorySegment program() {
            program.set(JAVA_SHORT, 0, (short) count);
            return program;
        }
    }
}
