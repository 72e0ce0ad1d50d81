package dev.rackcall.shm.os;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/** C mirror: epoll, eventfd and futex. The first argument of each function takes errno; -1 means that it was set. */
final class LibcEvents {
    static final int EPOLL_CLOEXEC = 0x80000;
    static final int EPOLL_CTL_ADD = 1;
    static final int EPOLL_CTL_DEL = 2;
    static final int EPOLLIN = 0x1;
    static final int EPOLLERR = 0x8;
    static final int EPOLLHUP = 0x10;
    static final int EPOLLRDHUP = 0x2000;
    static final int EFD_CLOEXEC = 0x80000;
    static final int EFD_NONBLOCK = 0x800;
    static final int FUTEX_WAIT = 0;
    static final int FUTEX_WAKE = 1;

    private static final MethodHandle EPOLL_CREATE1 = Linkage.libc("epoll_create1", JAVA_INT, JAVA_INT);
    private static final MethodHandle EPOLL_CTL =
            Linkage.libc("epoll_ctl", JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT, ADDRESS);
    private static final MethodHandle EPOLL_WAIT =
            Linkage.libc("epoll_wait", JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT, JAVA_INT);
    private static final MethodHandle EPOLL_PWAIT2 = Linkage.variadic(
            "syscall", 1, JAVA_LONG, JAVA_LONG, JAVA_INT, ADDRESS, JAVA_INT, ADDRESS, ADDRESS, JAVA_LONG);
    private static final MethodHandle EVENTFD = Linkage.libc("eventfd", JAVA_INT, JAVA_INT, JAVA_INT);
    private static final MethodHandle EVENTFD_READ = Linkage.libc("eventfd_read", JAVA_INT, JAVA_INT, ADDRESS);
    private static final MethodHandle EVENTFD_WRITE = Linkage.libc("eventfd_write", JAVA_INT, JAVA_INT, JAVA_LONG);
    private static final MethodHandle FUTEX = Linkage.variadic(
            "syscall", 1, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_INT, ADDRESS, JAVA_LONG, JAVA_INT);

    private LibcEvents() {}

    static int epollCreate1(MemorySegment errno, int flags) {
        try {
            return (int) EPOLL_CREATE1.invokeExact(errno, flags);
        } catch (Throwable t) {
            throw Linkage.impossible(t);
        }
    }

    static int epollCtl(MemorySegment errno, int epoll, int operation, int fd, MemorySegment event) {
        try {
            return (int) EPOLL_CTL.invokeExact(errno, epoll, operation, fd, event);
        } catch (Throwable t) {
            throw Linkage.impossible(t);
        }
    }

    static int epollWait(MemorySegment errno, int epoll, MemorySegment events, int capacity, int timeoutMillis) {
        try {
            return (int) EPOLL_WAIT.invokeExact(errno, epoll, events, capacity, timeoutMillis);
        } catch (Throwable t) {
            throw Linkage.impossible(t);
        }
    }

    /** epoll_pwait2(2) without a signal mask, by number: C libraries before glibc 2.35 do not have it. */
    static int epollPwait2(MemorySegment errno, int epoll, MemorySegment events, int capacity, MemorySegment timespec) {
        try {
            return (int) (long) EPOLL_PWAIT2.invokeExact(
                    errno, Abi.SYS_EPOLL_PWAIT2, epoll, events, capacity, timespec, MemorySegment.NULL, 0L);
        } catch (Throwable t) {
            throw Linkage.impossible(t);
        }
    }

    static int eventfd(MemorySegment errno, int initial, int flags) {
        try {
            return (int) EVENTFD.invokeExact(errno, initial, flags);
        } catch (Throwable t) {
            throw Linkage.impossible(t);
        }
    }

    static int eventfdRead(MemorySegment errno, int fd, MemorySegment value) {
        try {
            return (int) EVENTFD_READ.invokeExact(errno, fd, value);
        } catch (Throwable t) {
            throw Linkage.impossible(t);
        }
    }

    static int eventfdWrite(MemorySegment errno, int fd, long value) {
        try {
            return (int) EVENTFD_WRITE.invokeExact(errno, fd, value);
        } catch (Throwable t) {
            throw Linkage.impossible(t);
        }
    }

    /** futex(2): the word is an address, so that a sleeper does not keep its mapping from being closed. */
    static int futex(MemorySegment errno, long word, int operation, int value, MemorySegment timespec) {
        try {
            return (int)
                    (long) FUTEX.invokeExact(errno, Abi.current().futex(), word, operation, value, timespec, 0L, 0);
        } catch (Throwable t) {
            throw Linkage.impossible(t);
        }
    }
}
