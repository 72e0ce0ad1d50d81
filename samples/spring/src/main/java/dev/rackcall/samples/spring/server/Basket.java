package dev.rackcall.samples.spring.server;

import dev.rackcall.samples.spring.Cart;
import dev.rackcall.spring.RpcHandler;
import java.util.ArrayList;
import java.util.List;

/** Keeps goods in a list. */
@RpcHandler
public class Basket implements Cart {
    private final List<String> goods = new ArrayList<>();

    @Override
    public synchronized int put(String good) {
        goods.add(good);
        return goods.size();
    }
}
