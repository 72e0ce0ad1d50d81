package dev.rackcall.rpc.spi;

import dev.rackcall.rpc.Metadata;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.shm.codec.PayloadException;
import dev.rackcall.shm.codec.PayloadReader;
import dev.rackcall.shm.codec.PayloadWriter;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

/** A view of a call: forwards everything to it. Subclasses change what differs. Confined as the call is. */
public abstract class ForwardingCall extends ClientCall {
    protected final ClientCall call;

    protected ForwardingCall(ClientCall call) {
        this.call = call;
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
    public <T> T shared(Class<T> type, long ref) {
        return call.shared(type, ref);
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
