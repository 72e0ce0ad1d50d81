package dev.rackcall.rpc.spi;

import dev.rackcall.rpc.RpcContext;
import dev.rackcall.shm.codec.PayloadReader;
import dev.rackcall.shm.codec.PayloadWriter;
import java.util.concurrent.CompletionStage;
import java.util.stream.Stream;

/**
 * One call at the server, from the moment its request was taken until its response is published. Confined to the thread that
 * dispatches it; the object is reused by later calls.
 */
public abstract class ServerCall {
    /** The handler's view of this call; a snapshot that outlives the call. */
    public abstract RpcContext context();

    /**
     * When the caller stops waiting, on the clock of {@link System#nanoTime}; 0 if the request contains no deadline.
     */
    public abstract long deadlineNanos();

    /** Encodes a result. Implemented once per method by the generated dispatcher; holds no state. */
    @FunctionalInterface
    public interface ResultWriter<T> {
        void write(PayloadWriter out, ServerCall call, T value);
    }

    /** Decodes an element of a stream that the caller sends. As {@link ResultWriter}. */
    @FunctionalInterface
    public interface ElementReader<T> {
        T read(PayloadReader in);
    }

    /**
     * The stream that the caller sends. Taking its next element waits for it; the stream ends with the call. Called at
     * most once, for a method whose caller sends one.
     */
    public abstract <T> Stream<T> receiveStream(ElementReader<T> reader);

    /** The encoded arguments. A length or count that does not fit is a {@code PayloadException}, reported as INVALID_ARGUMENT. */
    public abstract PayloadReader arguments();

    /** Where the result is encoded. */
    public abstract PayloadWriter result();

    /** A flyweight over an argument; the Ref was written by an untrusted peer and is checked here. */
    public abstract <T> T shared(Class<T> type, long ref, String argument);

    /** Turns a shared object that the handler returns into a Ref that the caller can follow. */
    public abstract long share(Object sharedObject);

    /** Answers when the stage completes. */
    public abstract <T> void completeWith(CompletionStage<T> stage, ResultWriter<T> writer);

    /** Answers with the elements of the stream, at the pace at which the caller takes them; closes the stream at the end. */
    public abstract <T> void streamFrom(Stream<T> elements, ResultWriter<T> writer);
}
