package dev.rackcall.rpc.chaos;

import dev.rackcall.rpc.Rpc;
import dev.rackcall.rpc.RpcService;
import dev.rackcall.shm.Ref;
import dev.rackcall.shm.types.Shared;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

/** A service with a method of each kind. Each takes {@code micros}, which may be longer than its caller waits. */
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

    /** The numbers from {@code from} on, after {@code micros}. */
    @Rpc
    Stream<Long> count(long from, int elements, int micros);

    /** The sum of a stream that the caller sends. */
    @Rpc
    long total(Stream<Long> numbers, int micros);

    /** Answers each number that the caller sends with the next one. */
    @Rpc
    Stream<Long> nexts(Stream<Long> numbers, int micros);

    @Rpc
    long sum(Grain first, int micros);

    /** As {@link #sum}, in another thread. */
    @Rpc
    CompletableFuture<Long> sumLater(Grain first, int micros);

    /** The sum of a chain in the channel's shared arena; the handler adopts and frees its memory. */
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

    /** The caller's header {@code key}. */
    @Rpc
    String header(String key, int micros);

    /** Returns its argument when that many calls have arrived. */
    @Rpc
    CompletableFuture<byte[]> meet(int calls, byte[] value);

    /** As {@link #meet}, with an argument by pointer. */
    @Rpc
    CompletableFuture<Long> meetWith(int calls, Grain first);

    /** Used bytes of this connection's reply arena and of handlers' temporary scopes. */
    @Rpc
    long[] usedBytes();
}
