package dev.rackcall.rpc.generated;

import dev.rackcall.rpc.MethodDescriptor;
import dev.rackcall.rpc.MethodDescriptor.Kind;
import dev.rackcall.rpc.RpcContext;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.runtime.KryoCodec;
import dev.rackcall.rpc.spi.ClientCall;
import dev.rackcall.rpc.spi.ClientCalls;
import dev.rackcall.rpc.spi.Dispatcher;
import dev.rackcall.rpc.spi.ServerCall;
import dev.rackcall.rpc.spi.ServiceDefinition;
import dev.rackcall.shm.codec.ObjectCodec;
import dev.rackcall.shm.codec.PayloadException;
import dev.rackcall.shm.codec.PayloadReader;
import dev.rackcall.shm.codec.PayloadWriter;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.stream.Stream;

/**
 * Client and server in one thread: it encodes arguments into native memory, dispatches them, and encodes and decodes
 * the result. It checks that generated code keeps to the protocol of {@link ClientCall}. Shared objects stay objects; a
 * Ref is their number here.
 */
final class Loopback implements ClientCalls, AutoCloseable {
    private final Arena arena = Arena.ofConfined();
    private final Dispatcher dispatcher;
    private final ObjectCodec objects;
    private final List<Object> sharedObjects = new ArrayList<>();
    private byte[] lastArguments = {};
    private int openCalls;
    private int sent;

    private <S> Loopback(ServiceDefinition<S> definition, S service) {
        this.dispatcher = definition.dispatcher(service);
        this.objects = KryoCodec.of(definition.registered());
    }

    static <S> Loopback of(ServiceDefinition<S> definition, S service) {
        return new Loopback(definition, service);
    }

    /** Calls begun and not ended: 0 between calls. */
    int openCalls() {
        return openCalls;
    }

    /** Calls whose arguments reached the dispatcher. */
    int sent() {
        return sent;
    }

    byte[] lastArguments() {
        return lastArguments;
    }

    @Override
    public ClientCall begin(MethodDescriptor method) {
        openCalls++;
        return new Call(method);
    }

    /** Serves a request with these bytes as its arguments. */
    PayloadReader dispatch(int method, byte[] arguments) throws Exception {
        Serving serving = new Serving(arguments);
        dispatcher.dispatch(method, serving);
        return serving.answer();
    }

    @Override
    public void close() {
        arena.close();
    }

    private PayloadWriter writer() {
        PayloadWriter out = PayloadWriter.create((old, used, needed) -> {
                    MemorySegment larger = arena.allocate(2 * needed);
                    MemorySegment.copy(old, 0, larger, 0, used);
                    return larger;
                })
                .objects(objects);
        out.begin(arena.allocate(32));
        return out;
    }

    private PayloadReader reader(MemorySegment memory, long length) {
        PayloadReader in = PayloadReader.create().objects(objects);
        in.begin(memory, 0, length);
        return in;
    }

    private long share(Object sharedObject, String what) {
        if (sharedObject == null) {
            throw Status.Code.INVALID_ARGUMENT.with("%s is null", what).asException();
        }
        sharedObjects.add(sharedObject);
        return sharedObjects.size();
    }

    private <T> T shared(Class<T> type, long ref, String what) {
        if (ref < 1 || ref > sharedObjects.size()) {
            throw Status.Code.INVALID_ARGUMENT
                    .with("%s: Ref %d leads nowhere", what, ref)
                    .asException();
        }
        return type.cast(sharedObjects.get((int) ref - 1));
    }

    private final class Call extends ClientCall {
        private final MethodDescriptor method;
        private final PayloadWriter out = writer();
        private boolean invoked;

        Call(MethodDescriptor method) {
            this.method = method;
        }

        @Override
        public PayloadWriter arguments() {
            return out;
        }

        @Override
        public long share(Object sharedObject, String argument) {
            return Loopback.this.share(sharedObject, "argument '" + argument + "'");
        }

        @Override
        public <T> T shared(Class<T> type, long ref) {
            return Loopback.this.shared(type, ref, "result");
        }

        @Override
        public <T> void sendStream(Stream<T> elements, ElementWriter<T> writer) {
            throw new UnsupportedOperationException("StreamContract tests the streams that callers send");
        }

        private Serving send(Kind kind) {
            if (invoked || kind != method.kind()) {
                throw new IllegalStateException(method + " is " + method.kind() + " and was called as " + kind);
            }
            invoked = true;
            sent++;
            lastArguments = out.buffer().asSlice(0, out.length()).toArray(ValueLayout.JAVA_BYTE);
            Serving serving = new Serving(lastArguments);
            try {
                dispatcher.dispatch(method.index(), serving);
            } catch (PayloadException e) {
                throw serving.blame().with("%s: %s", method, e.getMessage()).asException(e);
            } catch (RpcException e) {
                throw e;
            } catch (Exception e) {
                throw Status.Code.UNKNOWN.with("%s: %s", method, e).asException(e);
            }
            return serving;
        }

        @Override
        public PayloadReader invoke() {
            return send(Kind.UNARY).answer();
        }

        @Override
        public <T> CompletableFuture<T> invokeAsync(ResultReader<T> reader) {
            Serving serving = send(Kind.ASYNC);
            openCalls--;
            return serving.completed
                    ? CompletableFuture.completedFuture(reader.read(serving.answer(), this))
                    : CompletableFuture.failedFuture(new IllegalStateException("not completed"));
        }

        @Override
        public void invokeOneWay() {
            send(Kind.ONE_WAY);
            openCalls--;
        }

        @Override
        public <T> Stream<T> invokeStream(ResultReader<T> reader) {
            Serving serving = send(Kind.SERVER_STREAM);
            openCalls--;
            PayloadReader in = serving.answer();
            List<T> elements = new ArrayList<>();
            for (int i = 0; i < serving.elements; i++) {
                elements.add(reader.read(in, this));
            }
            in.expectEnd();
            return elements.stream();
        }

        @Override
        public RpcException rejected(PayloadException cause) {
            Status.Code code = invoked ? Status.Code.INTERNAL : Status.Code.INVALID_ARGUMENT;
            return code.with("%s: %s", method, cause.getMessage()).asException(cause);
        }

        @Override
        public void close() {
            openCalls--;
        }

        @Override
        public RuntimeException abandon(Throwable cause) {
            if (!invoked) {
                openCalls--;
            }
            return switch (cause) {
                case PayloadException e -> rejected(e);
                case RuntimeException e -> e;
                default -> new IllegalStateException(cause);
            };
        }
    }

    private final class Serving extends ServerCall {
        private final PayloadReader in;
        private final PayloadWriter out = writer();
        private boolean encoding;
        private boolean completed;
        private int elements;

        Serving(byte[] arguments) {
            MemorySegment memory = arena.allocate(Math.max(1, arguments.length));
            MemorySegment.copy(arguments, 0, memory, ValueLayout.JAVA_BYTE, 0, arguments.length);
            in = reader(memory, arguments.length);
        }

        PayloadReader answer() {
            return reader(out.buffer(), out.length());
        }

        /** Bad arguments are the caller's fault, bad results the handler's. */
        Status.Code blame() {
            return encoding ? Status.Code.INTERNAL : Status.Code.INVALID_ARGUMENT;
        }

        @Override
        public RpcContext context() {
            throw new UnsupportedOperationException("generated code does not ask for it");
        }

        @Override
        public long deadlineNanos() {
            return 0;
        }

        @Override
        public PayloadReader arguments() {
            return in;
        }

        @Override
        public PayloadWriter result() {
            encoding = true;
            return out;
        }

        @Override
        public <T> T shared(Class<T> type, long ref, String argument) {
            return Loopback.this.shared(type, ref, "argument '" + argument + "'");
        }

        @Override
        public long share(Object sharedObject) {
            return Loopback.this.share(sharedObject, "result");
        }

        @Override
        public <T> Stream<T> receiveStream(ElementReader<T> reader) {
            throw new UnsupportedOperationException("StreamContract tests the streams that callers send");
        }

        @Override
        public <T> void completeWith(CompletionStage<T> stage, ResultWriter<T> writer) {
            writer.write(result(), this, stage.toCompletableFuture().join());
            completed = true;
        }

        @Override
        public <T> void streamFrom(Stream<T> stream, ResultWriter<T> writer) {
            PayloadWriter payload = result();
            stream.forEachOrdered(element -> {
                writer.write(payload, this, element);
                elements++;
            });
        }
    }
}
