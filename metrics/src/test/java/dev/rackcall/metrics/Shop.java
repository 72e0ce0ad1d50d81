package dev.rackcall.metrics;

import dev.rackcall.rpc.Rpc;
import dev.rackcall.rpc.RpcService;
import dev.rackcall.rpc.Status;
import dev.rackcall.shm.types.Shared;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** What the tests call. */
@RpcService("/test/shop")
public interface Shop {
    @Rpc
    int price(String name);

    @Rpc
    CompletableFuture<Integer> order(String name);

    @Rpc
    Stream<Integer> stock(int count);

    @Rpc
    int weigh(Bag bag);

    @Shared
    interface Bag {
        int grams();

        Bag grams(int value);
    }

    /** Sells tea only; an order is answered when {@link #shipped} is. */
    final class OneGood implements Shop {
        final CompletableFuture<Integer> shipped = new CompletableFuture<>();

        @Override
        public int price(String name) {
            if (!name.equals("tea")) {
                throw Status.Code.NOT_FOUND.with("there is no %s", name).asException();
            }
            return 350;
        }

        @Override
        public CompletableFuture<Integer> order(String name) {
            return shipped;
        }

        @Override
        public Stream<Integer> stock(int count) {
            return IntStream.range(0, count).boxed();
        }

        @Override
        public int weigh(Bag bag) {
            return bag.grams();
        }
    }
}
