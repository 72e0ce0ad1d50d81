package dev.rackcall.samples.spring;

import dev.rackcall.rpc.Status;
import dev.rackcall.samples.spring.server.Basket;
import dev.rackcall.spring.RpcHandler;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.springframework.beans.factory.config.BeanPostProcessor;

/** A cart whose calls to put {@link #GOLD} wait until it is paid, and then return {@link #RESULT}. A basket gets the rest. */
@RpcHandler
final class GoldBasket implements Cart {
    static final String GOLD = "gold";
    static final int RESULT = 7;

    /** Calls that have begun to wait. */
    final AtomicInteger begun = new AtomicInteger();

    final CountDownLatch paid = new CountDownLatch(1);

    private final Basket basket;

    private GoldBasket(Basket basket) {
        this.basket = basket;
    }

    @Override
    public int put(String good) {
        if (!good.equals(GOLD)) {
            return basket.put(good);
        }
        begun.incrementAndGet();
        try {
            paid.await();
        } catch (InterruptedException e) {
            throw Status.Code.CANCELLED.with("interrupted").asException(e);
        }
        return RESULT;
    }

    /** A bean that puts such a basket in the place of the server's. */
    static final class Exchange implements BeanPostProcessor {
        @Override
        public Object postProcessBeforeInitialization(Object bean, String name) {
            return bean instanceof Basket basket ? new GoldBasket(basket) : bean;
        }
    }
}
