package dev.rackcall.rpc.spi;

import dev.rackcall.rpc.Metadata;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.shm.codec.PayloadException;
import dev.rackcall.shm.codec.PayloadReader;
import dev.rackcall.shm.codec.PayloadWriter;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

/**
 * One call at the client, from {@link ClientCalls#begin} to its end. Confined to the thread that began it until it is sent.
 * The object is reused by later calls, so references to it must not be kept.
 *
 * <p>Generated stubs use it in exactly one of these shapes:
 *
 * <pre>{@code
 * if (calls.isIntercepted()) {                               // all shapes
 *     return calls.intercept(PUT, plain -> new Stub(plain).put(key));
 * }
 *
 * ClientCall call = calls.begin(PUT);                        // synchronous
 * try {
 *     PayloadWriter out = call.arguments();
 *     out.writeString(key, "key");
 *     return call.invoke().readLong();
 * } catch (PayloadException e) {
 *     throw ClientCall.failed(call.rejected(e));
 * } catch (RpcException e) {
 *     throw ClientCall.failed(e);
 * } finally {
 *     call.close();
 * }
 *
 * ClientCall call = calls.begin(FIND);                       // one-way, asynchronous, streaming
 * try {
 *     ...
 *     return call.invokeAsync(READ_FIND);                    // the call ends itself when the reply is decoded
 * } catch (Throwable t) {
 *     throw ClientCall.failed(call.abandon(t));              // nothing was sent: the slot goes back
 * }
 * }</pre>
 */
public abstract class ClientCall {
    /** Decodes a result. Implemented once per method by the generated stub; holds no state. */
    @FunctionalInterface
    public interface ResultReader<T> {
        T read(PayloadReader in, ClientCall call);
    }

    /** Encodes an element of a stream that the caller sends. As {@link ResultReader}. */
    @FunctionalInterface
    public interface ElementWriter<T> {
        void write(PayloadWriter out, T element);
    }

    /** Where the arguments are encoded. */
    public abstract PayloadWriter arguments();

    /**
     * Turns a shared object into the Ref that the peer can follow.
     *
     * @param argument the parameter's name, for the message
     * @throws dev.rackcall.rpc.RpcException INVALID_ARGUMENT if it is null, closed, or lives in an arena that the peer does not map
     */
    public abstract long share(Object sharedObject, String argument);

    /**
     * Sends these elements with the call, from its sending until it ends. Called at most once, after the arguments were
     * encoded. The call closes the stream.
     */
    public abstract <T> void sendStream(Stream<T> elements, ElementWriter<T> writer);

    /** Sends the call and waits for its result, which is valid until {@link #close}. */
    public abstract PayloadReader invoke();

    /**
     * Sends the call. The future completes on a thread of the runtime, or on one that waits for it. It is {@link
     * Pending} if a transport sends the call.
     */
    public abstract <T> CompletableFuture<T> invokeAsync(ResultReader<T> reader);

    /** Sends the call; there is no response. */
    public abstract void invokeOneWay();

    /** Sends the call; elements are fetched as the stream is consumed, and closing the stream cancels it. */
    public abstract <T> Stream<T> invokeStream(ResultReader<T> reader);

    /** A flyweight over a shared object that the server returned; it lives in a reply scope. */
    public abstract <T> T shared(Class<T> type, long ref);

    /** Whether it has failed because its connection ended before the server began it. Until {@link #close}. */
    public boolean wasNeverBegun() {
        return false;
    }

    /** The trailers of the answer that was read last; empty before that. */
    public Metadata trailers() {
        return Metadata.EMPTY;
    }

    /**
     * The exception for an argument that cannot be encoded (INVALID_ARGUMENT) or a result that cannot be decoded
     * (INTERNAL). Does not end the call.
     */
    public abstract RpcException rejected(PayloadException cause);

    /** Ends a synchronous call, whether it was sent or not. */
    public abstract void close();

    /** Ends a call that was not sent because {@code cause} came up while encoding; returns what to throw. */
    public abstract RuntimeException abandon(Throwable cause);

    /** Marks what a call throws: see {@link RpcException#isFromCall}. Returns it. */
    public static RuntimeException failed(RuntimeException thrown) {
        return thrown instanceof RpcException e ? e.fromCall() : thrown;
    }

    /** The future of a call that a transport sends. */
    public interface Pending {
        /** Releases the result with all its shared objects: the caller will never see it. */
        void drop(Object value);

        /** Whether it has failed before the server began the call. */
        boolean wasNeverBegun();
    }
}
