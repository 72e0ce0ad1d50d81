package dev.rackcall.shm.os;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/** C mirror: Unix sockets. The first argument of each function takes errno; -1 means that it was set. */
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

    private static final MethodHandle SOCKET = Linkage.libc("socket", JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT);
    private static final MethodHandle SOCKETPAIR =
            Linkage.libc("socketpair", JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT, ADDRESS);
    private static final MethodHandle BIND = Linkage.libc("bind", JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT);
    private static final MethodHandle LISTEN = Linkage.libc("listen", JAVA_INT, JAVA_INT, JAVA_INT);
    private static final MethodHandle CONNECT = Linkage.libc("connect", JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT);
    private static final MethodHandle ACCEPT4 = Linkage.libc("accept4", JAVA_INT, JAVA_INT, ADDRESS, ADDRESS, JAVA_INT);
    private static final MethodHandle GETSOCKOPT =
            Linkage.libc("getsockopt", JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT, ADDRESS, ADDRESS);
    private static final MethodHandle SHUTDOWN = Linkage.libc("shutdown", JAVA_INT, JAVA_INT, JAVA_INT);
    private static final MethodHandle SEND = Linkage.libc("send", JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG, JAVA_INT);
    private static final MethodHandle RECV = Linkage.libc("recv", JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG, JAVA_INT);
    private static final MethodHandle SENDMSG = Linkage.libc("sendmsg", JAVA_LONG, JAVA_INT, ADDRESS, JAVA_INT);
    private static final MethodHandle RECVMSG = Linkage.libc("recvmsg", JAVA_LONG, JAVA_INT, ADDRESS, JAVA_INT);
    private static final MethodHandle POLL = Linkage.libc("poll", JAVA_INT, ADDRESS, JAVA_LONG, JAVA_INT);

    private LibcSockets() {}

    static int socket(MemorySegment errno, int domain, int type, int protocol) {
        try {
            return (int) SOCKET.invokeExact(errno, domain, type, protocol);
        } catch (Throwable t) {
            throw Linkage.impossible(t);
        }
    }

    static int socketpair(MemorySegment errno, int domain, int type, int protocol, MemorySegment twoInts) {
        try {
            return (int) SOCKETPAIR.invokeExact(errno, domain, type, protocol, twoInts);
        } catch (Throwable t) {
            throw Linkage.impossible(t);
        }
    }

    static int bind(MemorySegment errno, int fd, MemorySegment address, int length) {
        try {
            return (int) BIND.invokeExact(errno, fd, address, length);
        } catch (Throwable t) {
            throw Linkage.impossible(t);
        }
    }

    static int listen(MemorySegment errno, int fd, int backlog) {
        try {
            return (int) LISTEN.invokeExact(errno, fd, backlog);
        } catch (Throwable t) {
            throw Linkage.impossible(t);
        }
    }

    static int connect(MemorySegment errno, int fd, MemorySegment address, int length) {
        try {
            return (int) CONNECT.invokeExact(errno, fd, address, length);
        } catch (Throwable t) {
            throw Linkage.impossible(t);
        }
    }

    static int accept4(MemorySegment errno, int fd, MemorySegment address, MemorySegment length, int flags) {
        try {
            return (int) ACCEPT4.invokeExact(errno, fd, address, length, flags);
        } catch (Throwable t) {
            throw Linkage.impossible(t);
        }
    }

    static int getsockopt(MemorySegment errno, int fd, int level, int name, MemorySegment value, MemorySegment length) {
        try {
            return (int) GETSOCKOPT.invokeExact(errno, fd, level, name, value, length);
        } catch (Throwable t) {
            throw Linkage.impossible(t);
        }
    }

    static int shutdown(MemorySegment errno, int fd, int how) {
        try {
            return (int) SHUTDOWN.invokeExact(errno, fd, how);
        } catch (Throwable t) {
            throw Linkage.impossible(t);
        }
    }

    static long send(MemorySegment errno, int fd, MemorySegment bytes, long count, int flags) {
        try {
            return (long) SEND.invokeExact(errno, fd, bytes, count, flags);
        } catch (Throwable t) {
            throw Linkage.impossible(t);
        }
    }

    static long recv(MemorySegment errno, int fd, MemorySegment bytes, long count, int flags) {
        try {
            return (long) RECV.invokeExact(errno, fd, bytes, count, flags);
        } catch (Throwable t) {
            throw Linkage.impossible(t);
        }
    }

    static long sendmsg(MemorySegment errno, int fd, MemorySegment header, int flags) {
        try {
            return (long) SENDMSG.invokeExact(errno, fd, header, flags);
        } catch (Throwable t) {
            throw Linkage.impossible(t);
        }
    }

    static long recvmsg(MemorySegment errno, int fd, MemorySegment header, int flags) {
        try {
            return (long) RECVMSG.invokeExact(errno, fd, header, flags);
        } catch (Throwable t) {
            throw Linkage.impossible(t);
        }
    }

    static int poll(MemorySegment errno, MemorySegment descriptors, long count, int timeoutMillis) {
        try {
            return (int) POLL.invokeExact(errno, descriptors, count, timeoutMillis);
        } catch (Throwable t) {
            throw Linkage.impossible(t);
        }
    }
}
