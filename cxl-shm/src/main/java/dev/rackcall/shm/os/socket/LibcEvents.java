package dev.rackcall.shm.os.socket;

import dev.rackcall.shm.os.Abi;
import dev.rackcall.shm.os.Linkage;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/** C mirror: epoll and eventfd. The first argument of each function takes errno; -1 means that it was set. */
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

    private static final MethodHandle EPOLL_CREATE1 = Linkage.libc("epoll_create1");
    private static final MethodHandle EPOLL_CTL = Linkage.libc("epoll_ctl");
    private static final MethodHandle EPOLL_WAIT = Linkage.libc("epoll_wait");
    private static final MethodHandle EVENTFD = Linkage.libc("eventfd");
    private static final MethodHandle EVENTFD_READ = Linkage.libc("eventfd_read");
    private static final MethodHandle EVENTFD_WRITE = Linkage.libc("eventfd_write");

    private LibcEvents() {}

    static int epollCreate1(MemorySegment errno, int flags) {
        return (int) Linkage.call(EPOLL_CREATE1, errno, flags);
    }

    static int epollCtl(MemorySegment errno, int epoll, int operation, int fd, MemorySegment event) {
        return (int) Linkage.call(EPOLL_CTL, errno, epoll, operation, fd, Linkage.address(event));
    }

    static int epollWait(MemorySegment errno, int epoll, MemorySegment events, int capacity, int timeoutMillis) {
        return (int) Linkage.call(EPOLL_WAIT, errno, epoll, Linkage.address(events), capacity, timeoutMillis);
    }

    /** epoll_pwait2(2) by number, since glibc before 2.35 does not have it. No signal mask, so the kernel does not ask for its size. */
    static int epollPwait2(MemorySegment errno, int epoll, MemorySegment events, int capacity, MemorySegment timespec) {
        return (int) Linkage.syscall(
                errno, Abi.SYS_EPOLL_PWAIT2, epoll, Linkage.address(events), capacity, Linkage.address(timespec), 0);
    }

    static int eventfd(MemorySegment errno, int initial, int flags) {
        return (int) Linkage.call(EVENTFD, errno, initial, flags);
    }

    static int eventfdRead(MemorySegment errno, int fd, MemorySegment value) {
        return (int) Linkage.call(EVENTFD_READ, errno, fd, Linkage.address(value));
    }

    static int eventfdWrite(MemorySegment errno, int fd, long value) {
        return (int) Linkage.call(EVENTFD_WRITE, errno, fd, value);
    }
}
