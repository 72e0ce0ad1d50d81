package dev.rackcall.soak;

import dev.rackcall.testkit.Await;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;

/** A fake survivor: {@code leak KIND} makes it keep something. */
final class LeakingChild extends SoakChild {
    private static final int BYTES = 16 << 20;

    private final Path file;
    private final List<Object> kept = new ArrayList<>();

    private LeakingChild(Path file) {
        this.file = file;
    }

    /**
     * The program.
     *
     * @param arguments a file that it may map
     */
    public static void main(String[] arguments) {
        new LeakingChild(Path.of(arguments[0])).run();
    }

    @Override
    Map<String, Long> calm() {
        return Map.of("calls", (long) kept.size());
    }

    @Override
    void obey(String[] words) {
        try {
            switch (words[1]) {
                case "descriptor" -> kept.add(new FileInputStream("/dev/null"));
                case "thread" -> {
                    CountDownLatch runs = new CountDownLatch(1);
                    kept.add(Thread.ofPlatform().daemon().name("leaked").start(() -> {
                        runs.countDown();
                        while (true) {
                            LockSupport.park();
                        }
                    }));
                    // The kernel knows the thread's name from now on.
                    Await.latch(runs);
                }
                case "mapping" -> {
                    try (FileChannel channel =
                            FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
                        kept.add(channel.map(FileChannel.MapMode.READ_WRITE, 0, BYTES, Arena.global())
                                .fill((byte) 1));
                    }
                }
                case "native" -> kept.add(Arena.global().allocate(BYTES).fill((byte) 1));
                case "heap" -> kept.add(new byte[BYTES]);
                default -> throw new IllegalArgumentException(words[1]);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    void end() {
        // The kernel takes everything.
    }
}
