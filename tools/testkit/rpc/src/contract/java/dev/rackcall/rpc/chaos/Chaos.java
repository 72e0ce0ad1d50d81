package dev.rackcall.rpc.chaos;

import dev.rackcall.rpc.Rpc;
import dev.rackcall.rpc.RpcService;
import dev.rackcall.shm.Ref;
import dev.rackcall.shm.types.Shared;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

/** A service with a method of each kind, each of which may take longer than its callers wait: {@code micros} is how long. */
@RpcService("/test/chaos")
public interface Chaos {
    /** A grain of a chain. */
    @Shared
    interface Grain {
        long value();

        void value(long value);

        Ref<Grain> next();

        void next(Ref<Grain> next);

        boolean next(Grain into);
    }

    /** Returns the value plus one. */
    @Rpc
    long next(long value, int micros);

    @Rpc
    byte[] bytes(byte[] value, int micros);

    /** As {@link #next}, by a timer. */
    @Rpc
    CompletableFuture<Long> later(long value, int micros);

    @Rpc(oneWay = true)
    void tell(long value, int micros);

    @Rpc(oneWay = true)
    void show(Grain first, int micros);

    /** The numbers from {@code from} on; the stream comes after {@code micros}. */
    @Rpc
    Stream<Long> count(long from, int elements, int micros);

    @Rpc
    long sum(Grain first, int micros);

    /** As {@link #sum}, in another thread. */
    @Rpc
    CompletableFuture<Long> sumLater(Grain first, int micros);

    /** The sum of a chain in the channel's shared arena, whose memory is taken over and freed. */
    @Rpc
    long take(Grain first, int micros);

    @Rpc
    Grain make(long value, int grains, int micros);

    @Rpc
    CompletableFuture<Grain> makeLater(long value, int grains, int micros);

    /** Allocates a result and throws ABORTED with the value as its trailer. */
    @Rpc
    Grain fail(long value, int micros);

    /** Calls itself at its own server. */
    @Rpc
    long nested(long value, int depth, int micros);

    /** What the caller sent along as {@code key}. */
    @Rpc
    String header(String key, int micros);

    /** Comes with its argument once as many calls are there at a time. */
    @Rpc
    CompletableFuture<byte[]> meet(int calls, byte[] value);

    /** As {@link #meet}, with an argument by pointer. */
    @Rpc
    CompletableFuture<Long> meetWith(int calls, Grain first);

    /** Bytes that are taken in this connection's reply arena, and for handlers' temporary scopes. */
    @Rpc
    long[] usedBytes();
}
