package dev.rackcall.rpc.channel;

import dev.rackcall.rpc.ByteObserver;
import dev.rackcall.rpc.spi.ClientCall;
import dev.rackcall.rpc.spi.EndObservers;
import dev.rackcall.rpc.spi.ForwardingCall;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.codec.PayloadReader;
import dev.rackcall.shm.codec.PayloadWriter;
import dev.rackcall.shm.types.SharedObject;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

/** A call whose bytes are counted as its stub encodes and decodes them. */
final class CountedCall extends ForwardingCall {
    private final ByteObserver observer;
    /** Null before the first argument. */
    private PayloadWriter arguments;
    /** Bytes of headers, which a connection may encode before the arguments. */
    private long headers;

    private List<Scope> scopes = List.of();
    private long byPointer;

    CountedCall(ClientCall call, ByteObserver observer) {
        super(call);
        this.observer = observer;
    }

    @Override
    public PayloadWriter arguments() {
        if (arguments == null) {
            arguments = call.arguments();
            headers = arguments.length();
        }
        return arguments;
    }

    @Override
    public long share(Object sharedObject, String argument) {
        long ref = call.share(sharedObject, argument);
        if (sharedObject instanceof SharedObject) {
            Scope scope = SharedObject.scopeOf(sharedObject).orElse(null);
            if (scope != null && !scopes.contains(scope)) {
                if (scopes.isEmpty()) {
                    scopes = new ArrayList<>(1);
                }
                scopes.add(scope);
                byPointer += scope.bytesHeld();
            }
        }
        return ref;
    }

    /** Asked before the call is sent: afterwards the writer may serve another one. */
    private long encoded() {
        return arguments == null ? 0 : arguments.length() - headers;
    }

    @Override
    public PayloadReader invoke() {
        long copied = encoded();
        try {
            PayloadReader in = call.invoke();
            copied += in.remaining();
            return in;
        } finally {
            EndObservers.tellBytes(observer, copied, byPointer);
        }
    }

    @Override
    public <T> CompletableFuture<T> invokeAsync(ResultReader<T> reader) {
        long copied = encoded();
        CompletableFuture<T> result = call.invokeAsync(counting(reader));
        EndObservers.tellBytes(observer, copied, byPointer);
        return result;
    }

    @Override
    public void invokeOneWay() {
        long copied = encoded();
        call.invokeOneWay();
        EndObservers.tellBytes(observer, copied, byPointer);
    }

    @Override
    public <T> Stream<T> invokeStream(ResultReader<T> reader) {
        long copied = encoded();
        Stream<T> result = call.invokeStream(counting(reader));
        EndObservers.tellBytes(observer, copied, byPointer);
        return result;
    }

    private <T> ResultReader<T> counting(ResultReader<T> reader) {
        ByteObserver told = observer;
        return (in, answered) -> {
            long before = in.remaining();
            T value = reader.read(in, answered);
            // Further elements of a stream may follow in the same answer.
            EndObservers.tellBytes(told, before - in.remaining(), 0);
            return value;
        };
    }

    @Override
    public <T> void sendStream(Stream<T> elements, ElementWriter<T> writer) {
        ByteObserver told = observer;
        call.sendStream(elements, (out, element) -> {
            long before = out.length();
            writer.write(out, element);
            EndObservers.tellBytes(told, out.length() - before, 0);
        });
    }
}
