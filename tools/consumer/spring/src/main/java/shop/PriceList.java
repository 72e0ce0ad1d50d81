package shop;

import dev.rackcall.spring.RpcHandler;

/** Answers the calls of the service. */
@RpcHandler
class PriceList implements Prices {
    @Override
    public int of(String good) {
        return 10 * good.length();
    }
}
