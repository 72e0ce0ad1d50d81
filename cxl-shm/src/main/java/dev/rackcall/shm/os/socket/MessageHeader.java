package dev.rackcall.shm.os.socket;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * struct msghdr with one buffer and room for descriptors (recvmsg(2), cmsg(3)), 64-bit Linux:
 *
 * <pre>
 *  msghdr   0 name | 8 name length | 16 iov | 24 iov count | 32 control | 40 control length | 48 flags |
 *  iovec    0 base | 8 length |
 *  cmsghdr  0 length | 8 level | 12 type | 16 descriptors, 4 bytes each ...
 * </pre>
 */
final class MessageHeader {
    static final int MSGHDR_BYTES = 56;
    static final long IOV = 16;
    static final long IOV_COUNT = 24;
    static final long CONTROL = 32;
    static final long CONTROL_LENGTH = 40;
    static final long FLAGS = 48;
    static final int IOVEC_BYTES = 16;
    static final long CMSG_LEVEL = 8;
    static final long CMSG_TYPE = 12;
    static final long CMSG_DATA = 16;
    /** Maximum number of descriptors in a message. The kernel closes descriptors that do not fit. */
    static final int MAX_FDS = 16;

    static final int MAX_MESSAGE_BYTES = 64 * 1024;

    private static final long CONTROL_BYTES = CMSG_DATA + (long) MAX_FDS * Integer.BYTES;

    private final MemorySegment header;
    private final MemorySegment data;
    private final MemorySegment control;

    private MessageHeader(Arena arena, int dataBytes) {
        header = arena.allocate(MSGHDR_BYTES, 8);
        data = arena.allocate(dataBytes);
        control = arena.allocate(CONTROL_BYTES, 8);
        MemorySegment iovec = arena.allocate(IOVEC_BYTES, 8);
        iovec.set(ADDRESS, 0, data);
        iovec.set(JAVA_LONG, 8, dataBytes);
        header.set(ADDRESS, IOV, iovec);
        header.set(JAVA_LONG, IOV_COUNT, 1);
    }

    static MessageHeader toSend(Arena arena, byte[] message, int... fds) {
        MessageHeader out = new MessageHeader(arena, message.length);
        MemorySegment.copy(message, 0, out.data, JAVA_BYTE, 0, message.length);
        if (fds.length > 0) {
            long length = CMSG_DATA + (long) fds.length * Integer.BYTES;
            out.control.set(JAVA_LONG, 0, length);
            out.control.set(JAVA_INT, CMSG_LEVEL, LibcSockets.SOL_SOCKET);
            out.control.set(JAVA_INT, CMSG_TYPE, LibcSockets.SCM_RIGHTS);
            MemorySegment.copy(fds, 0, out.control, JAVA_INT, CMSG_DATA, fds.length);
            out.header.set(ADDRESS, CONTROL, out.control);
            out.header.set(JAVA_LONG, CONTROL_LENGTH, align(length));
        }
        return out;
    }

    static MessageHeader toReceive(Arena arena) {
        MessageHeader in = new MessageHeader(arena, MAX_MESSAGE_BYTES);
        in.header.set(ADDRESS, CONTROL, in.control);
        in.header.set(JAVA_LONG, CONTROL_LENGTH, CONTROL_BYTES);
        return in;
    }

    MemorySegment segment() {
        return header;
    }

    boolean isTruncated() {
        return (header.get(JAVA_INT, FLAGS) & (LibcSockets.MSG_TRUNC | LibcSockets.MSG_CTRUNC)) != 0;
    }

    byte[] bytes(long length) {
        return data.asSlice(0, length).toArray(JAVA_BYTE);
    }

    int[] fds() {
        long end = Math.min(header.get(JAVA_LONG, CONTROL_LENGTH), CONTROL_BYTES);
        int[] fds = new int[MAX_FDS];
        int count = 0;
        long at = 0;
        while (at + CMSG_DATA <= end) {
            long length = control.get(JAVA_LONG, at);
            if (length < CMSG_DATA || length > end - at) {
                break;
            }
            if (control.get(JAVA_INT, at + CMSG_LEVEL) == LibcSockets.SOL_SOCKET
                    && control.get(JAVA_INT, at + CMSG_TYPE) == LibcSockets.SCM_RIGHTS) {
                for (long fd = at + CMSG_DATA;
                        fd + Integer.BYTES <= at + length && count < MAX_FDS;
                        fd += Integer.BYTES) {
                    fds[count++] = control.get(JAVA_INT, fd);
                }
            }
            at += align(length);
        }
        return Arrays.copyOf(fds, count);
    }

    private static long align(long length) {
        return (length + 7) & -8L;
    }
}
