package dev.rackcall.rpc.shm;

import dev.rackcall.rpc.Status;

/** Requests that are no service methods: those by which a client's runtime tells the server's what has become of earlier calls. */
final class ControlRequests {
    private ControlRequests() {}

    /**
     * Serves one and answers it, now or, if a stream has nothing ready, later. On the poller.
     *
     * @throws ProtocolException if no client of this version sends such a thing
     */
    static void serve(ShmServerCall call, ServerRequest request) throws ProtocolException {
        ShmServerConnection connection = call.connection;
        if (request.length() != Long.BYTES) {
            throw new ProtocolException(
                    "a control request " + request.methodIndex() + " of " + request.length() + " bytes");
        }
        long operand = request.open().readLong();
        switch (request.methodIndex()) {
            case ControlOp.CANCEL -> connection.cancel(operand);
            case ControlOp.RELEASE -> connection.link.releaseReply(operand);
            case ControlOp.READ -> connection.answerRead(operand);
            case ControlOp.STREAM_CLOSE -> connection.streams.close(operand);
            case ControlOp.STREAM_PULL -> {
                pull(call, connection.streams.find(operand), operand);
                return;
            }
            default -> throw new ProtocolException("an unknown control request " + request.methodIndex());
        }
        call.succeed();
    }

    private static void pull(ShmServerCall call, ServerStream<?> stream, long id) {
        if (stream == null) {
            call.fail(Status.Code.NOT_FOUND
                    .with("the server has no open stream %d on this connection", id)
                    .asException());
        } else {
            call.defer();
            stream.pull(call);
        }
    }
}
