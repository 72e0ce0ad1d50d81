package dev.rackcall.shm.os.socket;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.rackcall.shm.os.CallState;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Sends what {@link UnixSocket} would not send. */
final class HostilePeer {
    private HostilePeer() {}

    static void sendDescriptors(UnixSocket socket, int... fds) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment iovec = arena.allocate(MessageHeader.IOVEC_BYTES, 8);
            iovec.set(ADDRESS, 0, arena.allocate(JAVA_BYTE));
            iovec.set(JAVA_LONG, 8, 1);
            long length = MessageHeader.CMSG_DATA + (long) fds.length * Integer.BYTES;
            MemorySegment control = arena.allocate(length + 8, 8);
            control.set(JAVA_LONG, 0, length);
            control.set(JAVA_INT, MessageHeader.CMSG_LEVEL, LibcSockets.SOL_SOCKET);
            control.set(JAVA_INT, MessageHeader.CMSG_TYPE, LibcSockets.SCM_RIGHTS);
            MemorySegment.copy(fds, 0, control, JAVA_INT, MessageHeader.CMSG_DATA, fds.length);
            MemorySegment header = arena.allocate(MessageHeader.MSGHDR_BYTES, 8);
            header.set(ADDRESS, MessageHeader.IOV, iovec);
            header.set(JAVA_LONG, MessageHeader.IOV_COUNT, 1);
            header.set(ADDRESS, MessageHeader.CONTROL, control);
            header.set(JAVA_LONG, MessageHeader.CONTROL_LENGTH, length);
            CallState state = CallState.current();
            if (LibcSockets.sendmsg(state.errnoSegment(), socket.fd(), header, 0) < 0) {
                throw state.failure("sendmsg");
            }
        }
    }
}
