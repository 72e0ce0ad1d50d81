package dev.rackcall.rpc.servers;

import dev.rackcall.rpc.RpcServer;
import dev.rackcall.shm.pool.TwoHosts;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** A server process. Prints "serving", "working" and "stuck"; shuts down when it reads "drain", and then prints "drained". */
final class TillServer implements Till {
    private final CountDownLatch never = new CountDownLatch(1);

    private static long me() {
        return ProcessHandle.current().pid();
    }

    @Override
    public long pid() {
        return me();
    }

    @Override
    public long pidAgain() {
        return me();
    }

    @Override
    public long take(Coin coin) {
        return coin.value() > 0 ? me() : 0;
    }

    @Override
    public long stickIn(long pid) {
        if (pid == me()) {
            System.out.println("stuck");
            await(TimeUnit.HOURS.toMillis(1));
        }
        return me();
    }

    @Override
    public long stickInAgain(long pid) {
        return stickIn(pid);
    }

    @Override
    public long work(long millis) {
        System.out.println("working");
        await(millis);
        return me();
    }

    private void await(long millis) {
        try {
            if (never.await(millis, TimeUnit.MILLISECONDS)) {
                throw new IllegalStateException("nothing counts down");
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /**
     * Runs the server.
     *
     * @param arguments the runtime folder; "exclusive", "hook" for an exit hook that shuts down, "slow-hook" for one that
     *     first waits until this program was told to drain, or "pool" to serve in the pool at the path that
     *     follows
     */
    public static void main(String[] arguments) throws IOException {
        List<String> wishes = Arrays.asList(arguments);
        RpcServer.Builder builder =
                RpcServer.builder().service(Till.class, new TillServer()).runtimeFolder(Path.of(arguments[0]));
        if (wishes.contains("exclusive")) {
            builder.exclusive();
        }
        if (wishes.contains("pool")) {
            builder.pool(TwoHosts.host(Path.of(wishes.getLast()), 0));
        }
        RpcServer server = builder.start();
        CountDownLatch told = new CountDownLatch(1);
        if (wishes.contains("slow-hook")) {
            Runtime.getRuntime().addShutdownHook(new Thread(() -> {
                System.out.println("exiting");
                await(told);
                System.out.println("drained " + server.shutdown(Duration.ofMinutes(1)));
            }));
        }
        if (wishes.contains("hook")) {
            Runtime.getRuntime()
                    .addShutdownHook(
                            new Thread(() -> System.out.println("drained " + server.shutdown(Duration.ofMinutes(1)))));
        }
        System.out.println("serving");
        BufferedReader orders = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String order = orders.readLine(); order != null; order = orders.readLine()) {
            if (!order.equals("drain")) {
                continue;
            }
            told.countDown();
            if (!wishes.contains("slow-hook")) {
                System.out.println("drained " + server.shutdown(Duration.ofMinutes(1)));
            }
        }
    }
}
