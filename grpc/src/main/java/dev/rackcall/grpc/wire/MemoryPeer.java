package dev.rackcall.grpc.wire;

import dev.rackcall.grpc.wire.PipeLayout.Side;
import dev.rackcall.shm.os.socket.EventPoll;
import dev.rackcall.shm.os.socket.UnixSocket;

/** Two processes of a host map the same memory; a socket between them carries rings, and its end proves a death. */
final class MemoryPeer implements PipePeer {
    private final UnixSocket socket;
    private final PipeMemory memory;
    private final PipeBell bell;

    MemoryPeer(UnixSocket socket, PipeMemory memory, Side side) {
        this.socket = socket;
        this.memory = memory;
        this.bell = new PipeBell(memory.memory(), side);
    }

    @Override
    public boolean published(long from, long to) {
        return bell.claimRing();
    }

    @Override
    public void ring() {
        socket.ring();
    }

    @Override
    public void madeRoom(long head) {
        if (bell.claimRingForRoom()) {
            socket.ring();
        }
    }

    @Override
    public boolean isRoomDear() {
        return false;
    }

    @Override
    public void waitsForRoom(boolean waits) {
        bell.waitsForRoom(waits);
    }

    @Override
    public void look() {
        // The peer's stores arrive by themselves.
    }

    @Override
    public void loopPolls(boolean polls) {
        bell.loopPolls(polls);
    }

    @Override
    public void callerPolls() {
        bell.callerPolls();
    }

    @Override
    public boolean callerLeaves() {
        return bell.callerLeaves();
    }

    @Override
    public boolean watch(EventPoll poll, PipeConnection connection) {
        return socket.watch(poll, connection.tag);
    }

    @Override
    public void unwatch(EventPoll poll) {
        socket.unwatch(poll);
    }

    @Override
    public int drainRings() {
        return socket.drain();
    }

    @Override
    public void close(boolean atOnce) {
        socket.close();
        memory.close();
    }
}
