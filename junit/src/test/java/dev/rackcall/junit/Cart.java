package dev.rackcall.junit;

import dev.rackcall.rpc.Rpc;
import dev.rackcall.rpc.RpcService;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** What the tests call. */
@RpcService("/test/cart")
public interface Cart {
    @Rpc
    int put(String good);

    @Rpc
    CompletableFuture<Integer> count();

    /** Keeps goods in a list. */
    final class Basket implements Cart {
        private final List<String> goods = new ArrayList<>();

        @Override
        public synchronized int put(String good) {
            goods.add(good);
            return goods.size();
        }

        @Override
        public synchronized CompletableFuture<Integer> count() {
            return CompletableFuture.completedFuture(goods.size());
        }
    }

    /** A service that has a method of the same name. */
    @RpcService("/test/shelf")
    interface Shelf {
        @Rpc
        int put(String good);
    }

    /** A second service. */
    @RpcService("/test/till")
    interface Till {
        @Rpc
        int pay(int cents);
    }
}
