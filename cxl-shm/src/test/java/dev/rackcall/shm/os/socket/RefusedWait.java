package dev.rackcall.shm.os.socket;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import dev.rackcall.shm.os.CallState;
import dev.rackcall.shm.os.Errno;
import dev.rackcall.shm.os.Linkage;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.TimeUnit;

/**
 * A process whose seccomp filter answers epoll_pwait2 with EPERM, as those of older containers do. It waits for a ring
 * and prints how.
 */
final class RefusedWait {
    private static final boolean IS_ARM = System.getProperty("os.arch").equals("aarch64");
    private static final long SYS_PRCTL = IS_ARM ? 167 : 157;
    private static final long SYS_SECCOMP = IS_ARM ? 277 : 317;
    private static final int SYS_EPOLL_PWAIT2 = 441;
    private static final int PR_SET_NO_NEW_PRIVS = 38;
    private static final int SECCOMP_SET_MODE_FILTER = 1;
    private static final int SECCOMP_FILTER_FLAG_TSYNC = 1;
    private static final int LOAD = 0x20;
    private static final int JUMP_IF_EQUAL = 0x15;
    private static final int RETURN = 0x06;
    private static final int ALLOW = 0x7fff_0000;
    private static final int REFUSE = 0x0005_0000 | Errno.EPERM;

    private RefusedWait() {}

    private static void forbid() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment instructions = arena.allocate(4 * 8, 8);
            // The system call's number, at offset 0 of struct seccomp_data.
            add(instructions, 0, LOAD, 0, 0);
            add(instructions, 1, JUMP_IF_EQUAL, 1, SYS_EPOLL_PWAIT2);
            add(instructions, 2, RETURN, 0, ALLOW);
            add(instructions, 3, RETURN, 0, REFUSE);
            MemorySegment program = arena.allocate(16, 8);
            program.set(JAVA_SHORT, 0, (short) 4);
            program.set(JAVA_LONG, 8, instructions.address());
            require(SYS_PRCTL, PR_SET_NO_NEW_PRIVS, 1, 0);
            require(SYS_SECCOMP, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, program.address());
        }
    }

    private static void add(MemorySegment instructions, int index, int code, int ifTrue, int value) {
        long at = index * 8L;
        instructions.set(JAVA_SHORT, at, (short) code);
        instructions.set(ValueLayout.JAVA_BYTE, at + 2, (byte) ifTrue);
        instructions.set(JAVA_INT, at + 4, value);
    }

    private static void require(long number, long a, long b, long c) {
        CallState state = CallState.current();
        if (Linkage.syscall(state.errnoSegment(), number, a, b, c, 0, 0) != 0) {
            throw state.failure("system call " + number);
        }
    }

    public static void main(String[] arguments) {
        forbid();
        UnixSocket.Pair pair = UnixSocket.pair();
        try (EventPoll poll = EventPoll.create()) {
            pair.right().watch(poll, 7);
            int before = poll.await(1);
            pair.left().ring();
            int after = poll.await(TimeUnit.MINUTES.toNanos(1));
            System.out.println(before + " " + after + " " + poll.tag(0) + " " + poll.waitsForNanoseconds());
        }
    }
}
