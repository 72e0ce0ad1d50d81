package dev.rackcall.shm.os.socket;

import dev.rackcall.shm.os.Abi;
import dev.rackcall.shm.os.Linkage;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/**
 * C mirror: Unix sockets, epoll and eventfd. The first argument of each function takes errno; -1 means that it was set.
 */
final class LibcSockets {
    static final int AF_UNIX = 1;
    static final int SOCK_SEQPACKET = 5;
    static final int SOCK_NONBLOCK = 0x800;
    static final int SOCK_CLOEXEC = 0x80000;
    static final int SOL_SOCKET = 1;
    static final int SO_PEERCRED = 17;
    static final int SCM_RIGHTS = 1;
    static final int MSG_CTRUNC = 0x8;
    static final int MSG_TRUNC = 0x20;
    static final int MSG_DONTWAIT = 0x40;
    static final int MSG_NOSIGNAL = 0x4000;
    static final int MSG_CMSG_CLOEXEC = 0x40000000;
    static final int SHUT_RDWR = 2;
    static final short POLLIN = 1;
    static final short POLLOUT = 4;

    static final int EPOLL_CLOEXEC = 0x80000;
    static final int EPOLL_CTL_ADD = 1;
    static final int EPOLL_CTL_DEL = 2;
    static final int EPOLLIN = 0x1;
    static final int EPOLLERR = 0x8;
    static final int EPOLLHUP = 0x10;
    static final int EPOLLRDHUP = 0x2000;
    static final int EFD_CLOEXEC = 0x80000;
    static final int EFD_NONBLOCK = 0x800;

    private static final MethodHandle SOCKET = Linkage.libc("socket");
    private static final MethodHandle SOCKETPAIR = Linkage.libc("socketpair");
    private static final MethodHandle BIND = Linkage.libc("bind");
    private static final MethodHandle LISTEN = Linkage.libc("listen");
    private static final MethodHandle CONNECT = Linkage.libc("connect");
    private static final MethodHandle ACCEPT4 = Linkage.libc("accept4");
    private static final MethodHandle GETSOCKOPT = Linkage.libc("getsockopt");
    private static final MethodHandle SHUTDOWN = Linkage.libc("shutdown");
    private static final MethodHandle SEND = Linkage.libc("send");
    private static final MethodHandle RECV = Linkage.libc("recv");
    private static final MethodHandle SENDMSG = Linkage.libc("sendmsg");
    private static final MethodHandle RECVMSG = Linkage.libc("recvmsg");
    private static final MethodHandle POLL = Linkage.libc("poll");
    private static final MethodHandle EPOLL_CREATE1 = Linkage.libc("epoll_create1");
    private static final MethodHandle EPOLL_CTL = Linkage.libc("epoll_ctl");
    private static final MethodHandle EPOLL_WAIT = Linkage.libc("epoll_wait");
    private static final MethodHandle EVENTFD = Linkage.libc("eventfd");
    private static final MethodHandle EVENTFD_READ = Linkage.libc("eventfd_read");
    private static final MethodHandle EVENTFD_WRITE = Linkage.libc("eventfd_write");

    private LibcSockets() {}

    static int socket(MemorySegment errno, int domain, int type, int protocol) {
        return (int) Linkage.call(SOCKET, errno, domain, type, protocol);
    }

    static int socketpair(MemorySegment errno, int domain, int type, int protocol, MemorySegment twoInts) {
        return (int) Linkage.call(SOCKETPAIR, errno, domain, type, protocol, Linkage.address(twoInts));
    }

    static int bind(MemorySegment errno, int fd, MemorySegment address, int length) {
        return (int) Linkage.call(BIND, errno, fd, Linkage.address(address), length);
    }

    static int listen(MemorySegment errno, int fd, int backlog) {
        return (int) Linkage.call(LISTEN, errno, fd, backlog);
    }

    static int connect(MemorySegment errno, int fd, MemorySegment address, int length) {
        return (int) Linkage.call(CONNECT, errno, fd, Linkage.address(address), length);
    }

    static int accept4(MemorySegment errno, int fd, MemorySegment address, MemorySegment length, int flags) {
        return (int) Linkage.call(ACCEPT4, errno, fd, Linkage.address(address), Linkage.address(length), flags);
    }

    static int getsockopt(MemorySegment errno, int fd, int level, int name, MemorySegment value, MemorySegment length) {
        return (int) Linkage.call(GETSOCKOPT, errno, fd, level, name, Linkage.address(value), Linkage.address(length));
    }

    static int shutdown(MemorySegment errno, int fd, int how) {
        return (int) Linkage.call(SHUTDOWN, errno, fd, how);
    }

    static long send(MemorySegment errno, int fd, MemorySegment bytes, long count, int flags) {
        return Linkage.call(SEND, errno, fd, Linkage.address(bytes), count, flags);
    }

    static long recv(MemorySegment errno, int fd, MemorySegment bytes, long count, int flags) {
        return Linkage.call(RECV, errno, fd, Linkage.address(bytes), count, flags);
    }

    static long sendmsg(MemorySegment errno, int fd, MemorySegment header, int flags) {
        return Linkage.call(SENDMSG, errno, fd, Linkage.address(header), flags);
    }

    static long recvmsg(MemorySegment errno, int fd, MemorySegment header, int flags) {
        return Linkage.call(RECVMSG, errno, fd, Linkage.address(header), flags);
    }

    static int poll(MemorySegment errno, MemorySegment descriptors, long count, int timeoutMillis) {
        return (int) Linkage.call(POLL, errno, Linkage.address(descriptors), count, timeoutMillis);
    }

    static int epollCreate1(MemorySegment errno, int flags) {
        return (int) Linkage.call(EPOLL_CREATE1, errno, flags);
    }

    static int epollCtl(MemorySegment errno, int epoll, int operation, int fd, MemorySegment event) {
        return (int) Linkage.call(EPOLL_CTL, errno, epoll, operation, fd, Linkage.address(event));
    }

    static int epollWait(MemorySegment errno, int epoll, MemorySegment events, int capacity, int timeoutMillis) {
        return (int) Linkage.call(EPOLL_WAIT, errno, epoll, Linkage.address(events), capacity, timeoutMillis);
    }

    /**
     * epoll_pwait2(2) by number, since glibc has it only since 2.35. Without a signal mask, the kernel ignores its
     * size.
     */
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
