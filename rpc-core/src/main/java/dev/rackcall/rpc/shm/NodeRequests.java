package dev.rackcall.rpc.shm;

import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.Status;
import dev.rackcall.shm.OutOfArenaException;
import dev.rackcall.shm.RefException;
import dev.rackcall.shm.codec.PayloadWriter;

/** Control requests about the scopes that nodes have open for each other. A request that is wrong fails; nobody else notices. */
final class NodeRequests {
    /** The most that is fetched at once. */
    static final int MOST_BYTES = 64 << 10;

    private NodeRequests() {}

    static void serve(ShmServerCall call, int op, long ref, long bytes) {
        try {
            NodeScopes node = call.connection.link.node().orElseThrow(NodeRequests::noNode);
            switch (op) {
                case ControlOp.SHARE -> node.share(ref);
                case ControlOp.UNSHARE -> node.unshare(ref);
                default -> fetch(call, node, ref, bytes);
            }
        } catch (RefException e) {
            call.fail(Status.Code.FAILED_PRECONDITION.with("%s", e.getMessage()).asException(e));
            return;
        } catch (RpcException | OutOfArenaException e) {
            call.fail(e);
            return;
        }
        call.succeed();
    }

    private static RpcException noNode() {
        return Status.Code.FAILED_PRECONDITION
                .with("this client shares its server's memory: there is nothing to fetch")
                .asException();
    }

    private static void fetch(ShmServerCall call, NodeScopes node, long ref, long bytes) {
        if (bytes <= 0 || bytes > MOST_BYTES) {
            throw Status.Code.INVALID_ARGUMENT
                    .with("%d bytes asked at once; ask for 1 to %d", bytes, MOST_BYTES)
                    .asException();
        }
        long arenaBytes = node.channel().arenaBytes(ref);
        byte[] found = node.channel().copy(ref, (int) bytes, node);
        PayloadWriter out = call.result();
        out.writeLong(arenaBytes);
        out.writeBytes(found, "pages");
    }
}
