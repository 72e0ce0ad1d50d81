package dev.rackcall.spring;

import java.util.concurrent.atomic.AtomicInteger;

/** Counts goods. */
@RpcHandler
class Basket implements Cart {
    private final AtomicInteger goods = new AtomicInteger();

    @Override
    public int put(String good) {
        return goods.incrementAndGet();
    }
}
