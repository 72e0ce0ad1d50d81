package dev.rackcall.spring.shop;

import dev.rackcall.spring.RpcHandler;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

/** An application that serves. */
@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration
@Import(ShopServer.Basket.class)
public class ShopServer {
    /** The handler. */
    @RpcHandler
    public static class Basket implements Cart {
        public final CountDownLatch checkingOut = new CountDownLatch(1);
        public final CountDownLatch paid = new CountDownLatch(1);
        private final List<String> goods = new ArrayList<>();

        @Override
        public synchronized int put(String good) {
            goods.add(good);
            return goods.size();
        }

        @Override
        public int checkOut() {
            checkingOut.countDown();
            try {
                paid.await();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
            return 7;
        }
    }
}
