package dev.rackcall.rpc.shm.protocol;

import dev.rackcall.shm.os.socket.EventPoll;
import dev.rackcall.shm.os.socket.UnixSocket;
import java.util.function.LongConsumer;

/** The bell of a connection in shared memory: a Unix socket, which the kernel closes when the peer dies. */
public record SocketBell(UnixSocket socket) implements Bell {
    @Override
    public boolean watch(EventPoll poll, long tag) {
        return socket.watch(poll, tag);
    }

    @Override
    public void unwatch(EventPoll poll) {
        socket.unwatch(poll);
    }

    @Override
    public boolean ring() {
        return socket.ring();
    }

    @Override
    public boolean tell(long number) {
        return socket.ring(number);
    }

    @Override
    public int drain(LongConsumer numbers) {
        return socket.drain(numbers);
    }

    @Override
    public int drainToRing(LongConsumer numbers) {
        return socket.drainToRing(numbers);
    }

    @Override
    public void close() {
        socket.close();
    }
}
