package dev.rackcall.samples.pages;

import java.util.concurrent.atomic.AtomicInteger;

/** Counts what is put into it. */
final class CartService implements Cart {
    private final AtomicInteger goods = new AtomicInteger();

    @Override
    public int put(String good) {
        return goods.incrementAndGet();
    }

    @Override
    public long servedBy() {
        return ProcessHandle.current().pid();
    }
}
