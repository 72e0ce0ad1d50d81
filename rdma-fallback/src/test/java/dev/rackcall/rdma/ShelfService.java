package dev.rackcall.rdma;

import dev.rackcall.rpc.RpcContext;
import dev.rackcall.rpc.contract.Library.Page;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.types.SharedObject;
import dev.rackcall.shm.types.SharedType;
import dev.rackcall.testkit.Await;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;

final class ShelfService implements Shelf {
    private final Map<Integer, Page> pages = new ConcurrentHashMap<>();
    private final Map<Integer, Scope> adopted = new ConcurrentHashMap<>();
    /** Completed only when the test fails it. */
    final CompletableFuture<Page> never = new CompletableFuture<>();
    /** Counted down by a handler that holds. */
    final CountDownLatch holding = new CountDownLatch(1);
    /** Counted down when held calls may return. */
    final CountDownLatch letGo = new CountDownLatch(1);

    @Override
    public void put(int number, Page first) {
        pages.put(number, first);
    }

    @Override
    public void keep(int number, Page first) {
        adopted.put(number, RpcContext.current().orElseThrow().adopt(first));
        pages.put(number, first);
    }

    @Override
    public void hold(int number, Page first) {
        pages.put(number, first);
        holding.countDown();
        while (number < 0 && letGo.getCount() != 0) {
            Thread.onSpinWait();
        }
        Await.until("handlers may come back", () -> letGo.getCount() == 0);
    }

    @Override
    public Page get(int number) {
        return pages.get(number);
    }

    @Override
    public CompletableFuture<Page> later(int number) {
        return number < 0 ? never : CompletableFuture.completedFuture(pages.get(number));
    }

    @Override
    public void drop(int number) {
        pages.remove(number);
        adopted.remove(number).close();
    }

    @Override
    public List<Long> read(Page first, int count) {
        return numbers(first, count);
    }

    /** The numbers of this many pages, as the caller reads them. */
    static List<Long> numbers(Page first, int count) {
        List<Long> numbers = new ArrayList<>();
        Page page = another(first);
        do {
            numbers.add(page.number());
        } while (numbers.size() < count && page.next(page));
        return numbers;
    }

    /** A second flyweight on the same object, which may be moved. */
    static Page another(Page page) {
        return SharedType.of(Page.class).attach(SharedObject.spaceOf(page), SharedObject.refOf(page));
    }
}
