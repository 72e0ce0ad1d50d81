package dev.rackcall.rpc.isolation;

import dev.rackcall.rpc.Isolation;
import dev.rackcall.rpc.Rpc;
import dev.rackcall.rpc.RpcService;
import dev.rackcall.rpc.call.Feed;
import dev.rackcall.shm.Ref;
import dev.rackcall.shm.types.Shared;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

/**
 * The service of the isolation tests: handlers read their argument while its caller changes it, keep it, or follow its
 * references.
 */
@RpcService(value = "/test/vault", isolation = Isolation.SNAPSHOT)
public interface Vault {
    /** A node of a list. */
    @Shared
    interface Coin {
        long value();

        void value(long value);

        String name();

        void name(String name);

        Ref<Coin> next();

        void next(Ref<Coin> next);

        boolean next(Coin into);
    }

    @Rpc
    long sum(Coin first);

    /** Adds up the argument before and after the test has changed it; returns both sums. */
    @Rpc
    List<Long> sumTwice(Coin first);

    @Rpc
    long sumOfTwo(Coin first, Coin second);

    @Rpc
    CompletableFuture<Long> sumLater(Coin first);

    @Rpc
    Stream<Long> values(Coin first);

    /** As {@link #values}, but each value is read when it is encoded. */
    @Rpc
    Stream<Feed.Item> readLate(Coin first);

    @Rpc
    Coin same(Coin first);

    /** Collects the coins in a list in a temporary scope; returns the largest value. */
    @Rpc
    long largest(Coin first);

    @Rpc
    String name(Coin coin);

    @Rpc(isolation = Isolation.TRUSTED)
    long sumTrusted(Coin first);

    @Rpc
    long plain(long value);
}
