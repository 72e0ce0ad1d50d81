package dev.rackcall.rpc.shm;

import dev.rackcall.rpc.RpcException;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * Control requests that nobody waits for. Without a free slot they wait here, and the client's reactor sends them later: a cancellation or a
 * release that got lost would keep a handler or memory at the server for as long as the connection lasts. Thread-safe; never blocks.
 */
final class ControlQueue {
    private record Request(int op, long operand) {}

    private final ShmClientConnection connection;
    private final Queue<Request> waiting = new ConcurrentLinkedQueue<>();

    ControlQueue(ShmClientConnection connection) {
        this.connection = connection;
    }

    void send(int op, long operand) {
        // What holds all slots may be just what is cancelled.
        if (!trySend(op, operand) && (op != ControlOp.CANCEL || !connection.link.ringCancelled(operand))) {
            waiting.add(new Request(op, operand));
            connection.link.reactor().wakeIfIdle();
        }
    }

    /** Whether there are requests for {@link #flush}. */
    boolean isWaiting() {
        return !waiting.isEmpty();
    }

    /** Sends what there is room for. Reactor only. */
    void flush() {
        Request next = waiting.peek();
        while (next != null && trySend(next.op, next.operand)) {
            waiting.poll();
            next = waiting.peek();
        }
    }

    private boolean trySend(int op, long operand) {
        try {
            ShmClientCall call = connection.slots.tryClaim();
            if (call == null) {
                return false;
            }
            call.sendControl(op, operand);
        } catch (RpcException e) {
            // The connection has ended, and with it what this was about.
            waiting.clear();
        }
        return true;
    }
}
