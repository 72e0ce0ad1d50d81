package dev.rackcall.rpc.isolation;

import dev.rackcall.rpc.RpcContext;
import dev.rackcall.rpc.call.Feed;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.types.SharedList;
import dev.rackcall.shm.types.SharedObject;
import dev.rackcall.shm.types.SharedType;
import java.util.AbstractList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Exchanger;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import java.util.stream.Stream;

/** Implements {@link Vault}. */
final class VaultService implements Vault {
    private static final SharedType<Coin> COIN = SharedType.of(Coin.class);

    /** {@link #sumTwice} and {@link #sumLater} meet the test here, before and after it changes the argument. */
    final Exchanger<Boolean> turns = new Exchanger<>();
    /** An object that a handler kept. */
    Coin kept;

    Scope temporary;

    /** The thread that has run {@link #plain} last. */
    volatile long plainThread;

    @Override
    public long sum(Coin first) {
        kept = first;
        return total(first);
    }

    private static long total(Coin first) {
        Coin coin = COIN.flyweight();
        long sum = first.value();
        boolean more = first.next(coin);
        while (more) {
            sum += coin.value();
            more = coin.next(coin);
        }
        return sum;
    }

    @Override
    public List<Long> sumTwice(Coin first) {
        long before = total(first);
        meet();
        meet();
        return List.of(before, total(first));
    }

    private void meet() {
        try {
            turns.exchange(true, 20, TimeUnit.SECONDS);
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public long sumOfTwo(Coin first, Coin second) {
        return total(first) + total(second);
    }

    @Override
    public CompletableFuture<Long> sumLater(Coin first) {
        CompletableFuture<Long> sum = new CompletableFuture<>();
        Thread.ofVirtual().start(() -> {
            meet();
            sum.complete(total(first));
        });
        return sum;
    }

    @Override
    public Stream<Long> values(Coin first) {
        Coin coin = COIN.flyweight();
        long[] next = {first.next().bits()};
        return LongStream.concat(LongStream.of(first.value()), LongStream.generate(() -> {
                    COIN.move(coin, SharedObject.spaceOf(first), next[0]);
                    next[0] = coin.next().bits();
                    return coin.value();
                }))
                .boxed()
                .limit(1000);
    }

    @Override
    public Stream<Feed.Item> readLate(Coin first) {
        return Stream.generate(() -> new Feed.Item(new AbstractList<>() {
                    @Override
                    public Long get(int index) {
                        return first.value();
                    }

                    @Override
                    public int size() {
                        return 1;
                    }
                }))
                .limit(10)
                .onClose(this::meet);
    }

    @Override
    public Coin same(Coin first) {
        return first;
    }

    @Override
    public long largest(Coin first) {
        temporary = RpcContext.current().orElseThrow().temporaryScope();
        SharedList<Coin> all = SharedList.create(temporary, Coin.class);
        all.add(first);
        Coin coin = COIN.flyweight();
        boolean more = first.next(coin);
        while (more) {
            all.add(coin);
            more = coin.next(coin);
        }
        long largest = Long.MIN_VALUE;
        for (Coin each : all) {
            largest = Math.max(largest, each.value());
        }
        return largest;
    }

    @Override
    public String name(Coin coin) {
        return coin.name();
    }

    @Override
    public long sumTrusted(Coin first) {
        return total(first);
    }

    @Override
    public long plain(long value) {
        plainThread = Thread.currentThread().threadId();
        return value;
    }
}
