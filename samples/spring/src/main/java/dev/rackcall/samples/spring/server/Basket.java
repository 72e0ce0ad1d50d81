package dev.rackcall.samples.spring.server;

import dev.rackcall.rpc.Status;
import dev.rackcall.samples.spring.Cart;
import dev.rackcall.spring.RpcHandler;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

/** Keeps goods in a list. */
@RpcHandler
public class Basket implements Cart {
    private final List<String> goods = new ArrayList<>();

    @Override
    public synchronized int put(String good) {
        goods.add(good);
        return goods.size();
    }

    // ---- for the test

    public final AtomicInteger checkingOut = new AtomicInteger();
    public final CountDownLatch paid = new CountDownLatch(1);

    @Override
    public int checkOut() {
        checkingOut.incrementAndGet();
        try {
            paid.await();
        } catch (InterruptedException e) {
            throw Status.Code.CANCELLED.with("interrupted").asException(e);
        }
        return 7;
    }
}
