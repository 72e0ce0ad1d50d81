package dev.rackcall.rpc.chaos;

import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.shm.waiting.WaitStrategy;
import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.Usage;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

/**
 * A process with two channels to a server of {@link Chaos} and six calling threads. It obeys and answers its input line
 * by line.
 */
final class ChaosClient {
    private static final int PLATFORM_THREADS = 4;
    private static final int VIRTUAL_THREADS = 2;
    private static final long ARENA_BYTES = 4 << 20;

    private final Path directory;
    private final String address;
    private final ChaosTally tally = new ChaosTally();
    private final AtomicReference<Throwable> wrong = new AtomicReference<>();
    private List<RpcChannel> channels = List.of();
    private List<ChaosCalm> calms = List.of();
    private Map<String, Integer> before = Map.of();

    private ChaosClient(Path directory, String address) {
        this.directory = directory;
        this.address = address;
    }

    /**
     * The program.
     *
     * @param arguments the runtime folder, and the server's address, if it has one, or "-"
     */
    public static void main(String[] arguments) throws Exception {
        ChaosClient client = new ChaosClient(Path.of(arguments[0]), arguments[1]);
        try (BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                System.out.println("> " + client.answer(line.split(" ")));
            }
        }
    }

    private String answer(String[] words) {
        try {
            return "well " + obey(words);
        } catch (Throwable t) {
            t.printStackTrace();
            return "wrong " + t + ", caused by " + t.getCause();
        }
    }

    private String obey(String[] words) throws InterruptedException {
        switch (words[0]) {
            case "open" -> open();
            case "storm" -> {
                return storm(Long.parseLong(words[1]), Integer.parseInt(words[2]));
            }
            case "calm" -> calm();
            case "close" -> channels.forEach(RpcChannel::close);
            default -> throw new IllegalArgumentException(words[0]);
        }
        return words[0];
    }

    private void open() {
        channels = List.of(open(WaitStrategy.adaptive()), open(WaitStrategy.blocking()));
        calms = channels.stream().map(ChaosCalm::new).toList();
        before = Map.of();
    }

    private RpcChannel open(WaitStrategy waiting) {
        RpcChannel.Builder builder = RpcChannel.builder("/test/chaos")
                .runtimeFolder(directory)
                .waiting(waiting)
                .slots(ChaosCalm.SLOTS)
                .arenaQuota(ARENA_BYTES)
                // One attempt may exceed the time limits while this process still loads its code.
                .waitForReady(Await.BOUND)
                .interceptor((call, next) -> {
                    call.onEnd(tally.begin(call.method().fullName()));
                    next.run();
                });
        return (address.equals("-") ? builder : builder.address(URI.create(address))).open();
    }

    /** Each thread makes that many calls and ends those in flight; returns how many succeeded. */
    private String storm(long seed, int calls) throws InterruptedException {
        long begun = tally.begun();
        AtomicLong succeeded = new AtomicLong();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < PLATFORM_THREADS + VIRTUAL_THREADS; i++) {
            ChaosCaller caller = new ChaosCaller(seed * 31 + i, channels, false);
            Thread.Builder builder = i < PLATFORM_THREADS ? Thread.ofPlatform() : Thread.ofVirtual();
            threads.add(builder.name("chaos-" + i).start(() -> {
                try {
                    for (int call = 0; call < calls && wrong.get() == null; call++) {
                        caller.call();
                    }
                    caller.end();
                } catch (Throwable t) {
                    wrong.compareAndSet(null, t);
                }
                succeeded.addAndGet(caller.succeeded());
            }));
        }
        for (Thread thread : threads) {
            thread.join();
        }
        if (wrong.get() != null) {
            throw new AssertionError("a call went wrong", wrong.get());
        }
        tally.awaitQuiet("client");
        return succeeded + " of " + (tally.begun() - begun) + " calls were answered";
    }

    private void calm() {
        for (ChaosCalm calm : calms) {
            calm.check();
        }
        tally.awaitQuiet("client");
        if (before.isEmpty()) {
            before = Usage.now();
        }
        Await.equal("what the client has more of", Map.of(), () -> Usage.grownSince(before));
    }
}
