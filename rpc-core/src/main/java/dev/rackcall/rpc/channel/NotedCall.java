package dev.rackcall.rpc.channel;

import dev.rackcall.rpc.Metadata;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.spi.ClientCall;
import dev.rackcall.shm.codec.PayloadException;
import dev.rackcall.shm.codec.PayloadReader;
import dev.rackcall.shm.codec.PayloadWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

/**
 * An intercepted call whose answer its own thread reads. Notes the shared objects of the result, wherever they lie in
 * it, so that they can be released if an interceptor withholds the result.
 */
final class NotedCall extends ClientCall {
    private final ClientCall call;
    private List<Object> shared = List.of();

    NotedCall(ClientCall call) {
        this.call = call;
    }

    /** The shared objects that were read. */
    List<Object> shared() {
        return shared;
    }

    @Override
    public <T> T shared(Class<T> type, long ref) {
        T object = call.shared(type, ref);
        if (shared.isEmpty()) {
            shared = new ArrayList<>();
        }
        shared.add(object);
        return object;
    }

    @Override
    public PayloadWriter arguments() {
        return call.arguments();
    }

    @Override
    public long share(Object sharedObject, String argument) {
        return call.share(sharedObject, argument);
    }

    @Override
    public <T> void sendStream(Stream<T> elements, ElementWriter<T> writer) {
        call.sendStream(elements, writer);
    }

    @Override
    public PayloadReader invoke() {
        return call.invoke();
    }

    @Override
    public <T> CompletableFuture<T> invokeAsync(ResultReader<T> reader) {
        return call.invokeAsync(reader);
    }

    @Override
    public void invokeOneWay() {
        call.invokeOneWay();
    }

    @Override
    public <T> Stream<T> invokeStream(ResultReader<T> reader) {
        return call.invokeStream(reader);
    }

    @Override
    public boolean wasNeverBegun() {
        return call.wasNeverBegun();
    }

    @Override
    public Metadata trailers() {
        return call.trailers();
    }

    @Override
    public RpcException rejected(PayloadException cause) {
        return call.rejected(cause);
    }

    @Override
    public void close() {
        call.close();
    }

    @Override
    public RuntimeException abandon(Throwable cause) {
        return call.abandon(cause);
    }
}
