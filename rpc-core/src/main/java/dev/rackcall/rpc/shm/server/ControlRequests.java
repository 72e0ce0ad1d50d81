package dev.rackcall.rpc.shm.server;

import dev.rackcall.rpc.EnforcedSeals;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.shm.protocol.ControlOp;
import dev.rackcall.rpc.spi.ServedInterface;
import dev.rackcall.sandbox.SealException;
import dev.rackcall.shm.OutOfArenaException;
import dev.rackcall.shm.RefException;
import dev.rackcall.shm.codec.PayloadException;
import dev.rackcall.shm.codec.PayloadReader;
import dev.rackcall.shm.codec.PayloadWriter;
import java.nio.ByteBuffer;

/** Serves requests that are not service methods: a client's runtime sends them about earlier calls. */
final class ControlRequests {
    /** Maximum bytes of a channel's name with its length. */
    private static final int MAX_NAME_BYTES = 1_024;

    private ControlRequests() {}

    /**
     * Whether serving the request changes what only the thread on duty may change, such as the calls in other slots. Such
     * a request runs no users' code and waits for nothing: it is slow only while its thread gets no processor.
     */
    static boolean needsDuty(int op) {
        return op == ControlOp.CANCEL || op == ControlOp.READ || op == ControlOp.LAST_CALL;
    }

    /**
     * Serves a request and answers it, or defers the answer if a stream has no element ready. Called by the
     * thread that took the request, which may be relieved meanwhile unless the request {@linkplain #needsDuty needs
     * duty}.
     *
     * @throws ProtocolBreachException if no client of this version sends such a request
     */
    static void serve(ShmServerCall call) throws ProtocolBreachException {
        ServerRequest request = call.request;
        ShmServerConnection connection = call.connection;
        if (request.methodIndex() == ControlOp.BIND) {
            request.continues(connection.service.channel());
            bind(call);
            return;
        }
        if (request.methodIndex() == ControlOp.STREAM_PUSH) {
            request.continues(connection.service.channel());
            push(call);
            return;
        }
        if (request.length() != (ControlOp.isOfTwo(request.methodIndex()) ? 2 * Long.BYTES : Long.BYTES)) {
            throw new ProtocolBreachException(
                    "a control request " + request.methodIndex() + " of " + request.length() + " bytes");
        }
        request.continues(connection.service.channel());
        PayloadReader operands = request.open();
        long operand = operands.readLong();
        switch (request.methodIndex()) {
            case ControlOp.CANCEL -> connection.cancel(operand);
            case ControlOp.RELEASE -> connection.end.replies().release(operand);
            case ControlOp.READ -> connection.answerRead(operand);
            case ControlOp.LAST_CALL -> connection.noteLastCall(operand == ControlOp.SCOPES_ARE_OPEN);
            case ControlOp.STREAM_CLOSE -> connection.streams.close(operand);
            case ControlOp.STREAM_PULL -> {
                pull(call, connection.streams.find(operand), operand);
                return;
            }
            case ControlOp.JOIN_SEALS -> {
                joinSeals(call, operand, operands.readLong());
                return;
            }
            case ControlOp.SHARE, ControlOp.UNSHARE, ControlOp.FETCH -> {
                serveNode(call, request.methodIndex(), operand, operands.readLong());
                return;
            }
            default -> throw new ProtocolBreachException("an unknown control request " + request.methodIndex());
        }
        call.succeed();
    }

    private static void bind(ShmServerCall call) throws ProtocolBreachException {
        if (call.request.length() > MAX_NAME_BYTES) {
            throw new ProtocolBreachException("a request of " + call.request.length() + " bytes to bind a service");
        }
        String channel;
        try {
            channel = call.request.open().readString();
        } catch (PayloadException e) {
            throw new ProtocolBreachException("a request to bind a service that names none: " + e.getMessage());
        }
        BoundServices services = call.connection.services;
        try {
            int number = services.bind(channel);
            ServedInterface served =
                    ServedInterface.of(services.get(number).service().definition());
            PayloadWriter result = call.result();
            result.writeInt(number);
            result.writeLong(served.fingerprint());
            result.writeString(served.name(), "name");
            result.writeString(served.description(), "description");
        } catch (RpcException | OutOfArenaException e) {
            call.fail(e);
            return;
        }
        call.succeed();
    }

    private static void joinSeals(ShmServerCall call, long sessionHigh, long sessionLow) {
        EnforcedSeals trusted =
                call.connection.spec().trust().sandbox().enforcedSeals().orElse(null);
        if (trusted == null) {
            call.fail(Status.Code.FAILED_PRECONDITION
                    .with("the server trusts no holder of seals; see SandboxPolicy.withEnforcedSeals")
                    .asException());
            return;
        }
        ReceivedSeals seals;
        try {
            seals = call.connection.end.seals();
            seals.expectJoin();
        } catch (SealException e) {
            call.fail(cannotJoin(e));
            return;
        }
        byte[] session = ByteBuffer.allocate(2 * Long.BYTES)
                .putLong(sessionHigh)
                .putLong(sessionLow)
                .array();
        call.defer();
        // On a thread of its own, once per connection, since holder and client may take their time.
        Thread.ofPlatform()
                .daemon()
                .name("rackcall-join-seals")
                .start(() -> call.answerLate(() -> {
                    try {
                        seals.join(trusted.holder(), session);
                        call.succeed();
                    } catch (SealException e) {
                        call.fail(cannotJoin(e));
                    }
                }));
    }

    /**
     * Serves requests about scopes that clients open for each other. A malformed one fails, but its connection stays
     * open.
     */
    private static void serveNode(ShmServerCall call, int op, long ref, long bytes) {
        try {
            call.connection
                    .end
                    .mirrored()
                    .orElseThrow(() -> Status.Code.FAILED_PRECONDITION
                            .with("this client shares its server's memory: there is nothing to fetch")
                            .asException())
                    .serve(op, ref, bytes, call::result);
        } catch (RefException e) {
            call.fail(Status.Code.FAILED_PRECONDITION.with("%s", e.getMessage()).asException(e));
            return;
        } catch (RpcException | OutOfArenaException e) {
            call.fail(e);
            return;
        }
        call.succeed();
    }

    private static RpcException cannotJoin(SealException cause) {
        return Status.Code.FAILED_PRECONDITION.with("%s", cause.getMessage()).asException(cause);
    }

    private static void push(ShmServerCall call) throws ProtocolBreachException {
        ServerRequest request = call.request;
        if (request.length() < Long.BYTES) {
            throw new ProtocolBreachException("a request of " + request.length() + " bytes with elements of a stream");
        }
        PayloadReader operands = request.open();
        IncomingStream stream = call.connection.incoming.get(operands.readLong());
        if (stream == null) {
            // Its call has ended, which its caller will notice.
            call.result().writeBoolean(false);
            call.succeed();
            return;
        }
        request.continues(stream.method(), stream.service());
        try {
            request.requireCounted();
        } catch (RpcException e) {
            call.fail(e);
            return;
        }
        call.defer();
        stream.push(call, operands, request.length());
    }

    private static void pull(ShmServerCall call, ServerStream<?> stream, long id) {
        if (stream == null) {
            call.fail(Status.Code.NOT_FOUND
                    .with(
                            "the server has no open stream %d on this connection; it was closed, or not read for too long",
                            id)
                    .asException());
        } else {
            call.request.continues(stream.method());
            call.response.answersFor(stream.service());
            call.defer();
            stream.pull(call);
        }
    }
}
