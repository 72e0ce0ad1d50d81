package dev.rackcall.rpc.death;

import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.contract.Echo;
import dev.rackcall.rpc.contract.Library;
import dev.rackcall.rpc.contract.Library.Book;
import dev.rackcall.rpc.contract.LibraryService;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.waiting.WaitStrategy;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Makes one kind of call again and again and checks every answer, while the test kills or stops a process. Used by one
 * thread.
 */
final class BusyCaller implements AutoCloseable {
    /** What the caller repeats. */
    enum Style {
        SPINNING,
        SLEEPING,
        ASYNC,
        STREAMING,
        ONE_WAY,
        LARGE,
        SHARED,
        CONNECTING
    }

    /** Far longer than any call takes: a call that exceeds it has waited for a dead process. */
    private static final Duration TIMEOUT = Duration.ofSeconds(60);

    private static final int PIPELINED = 24;
    private static final int STREAMED = 300;
    private static final int LARGEST = 200_000;

    private final Style style;
    private final Path directory;
    private final Random random;
    private final RpcChannel echoChannel;
    private final RpcChannel libraryChannel;
    private final Echo echo;
    private final Library library;

    BusyCaller(Style style, Path directory, long seed) {
        this(style, directory, seed, TIMEOUT);
    }

    BusyCaller(Style style, Path directory, long seed, Duration timeout) {
        this.style = style;
        this.directory = directory;
        this.random = new Random(seed);
        this.echoChannel = builder("/test/echo").defaultTimeout(timeout).open();
        this.echo = echoChannel.stub(Echo.class);
        this.libraryChannel = builder("/test/library").defaultTimeout(timeout).open();
        this.library = libraryChannel.stub(Library.class);
    }

    private RpcChannel.Builder builder(String channel) {
        return RpcChannel.builder(channel)
                .runtimeFolder(directory)
                .waiting(
                        switch (style) {
                            case SPINNING -> WaitStrategy.busySpin();
                            case SLEEPING -> WaitStrategy.blocking();
                            default -> WaitStrategy.adaptive();
                        });
    }

    /**
     * Makes one call, or a handful.
     *
     * @throws RpcException if a call failed
     * @throws AssertionError if an answer was wrong
     */
    void call() {
        switch (style) {
            case SPINNING, SLEEPING -> add();
            case ASYNC -> pipeline();
            case STREAMING -> stream();
            case ONE_WAY -> tell();
            case LARGE -> large();
            case SHARED -> share();
            case CONNECTING -> connect();
            default -> throw new AssertionError(style);
        }
    }

    /**
     * Calls over both channels, also over the one that this style does not use.
     *
     * @throws RpcException if a call failed
     */
    void callOverBoth() {
        echo.nothing();
        check(library.kept() != null, "what is kept");
    }

    private void add() {
        long first = random.nextLong();
        long second = random.nextLong();
        check(echo.add(first, second) == first + second, "a sum");
    }

    private void pipeline() {
        List<CompletableFuture<Integer>> futures = new ArrayList<>();
        for (int i = 0; i < PIPELINED; i++) {
            futures.add(echo.later(i, random.nextInt(3)));
        }
        RpcException failure = null;
        for (int i = 0; i < PIPELINED; i++) {
            try {
                check(futures.get(i).join() == i, "a future");
            } catch (CompletionException e) {
                failure = (RpcException) e.getCause();
            }
        }
        if (failure != null) {
            throw failure;
        }
    }

    private void stream() {
        int length = random.nextInt(STREAMED);
        try (Stream<Integer> all = echo.count(0, STREAMED)) {
            check(
                    all.limit(length)
                            .toList()
                            .equals(IntStream.range(0, length).boxed().toList()),
                    "a stream");
        }
    }

    private void tell() {
        for (int i = 0; i < PIPELINED; i++) {
            echo.note("note");
        }
        echo.nothing();
    }

    private void large() {
        byte[] value = new byte[random.nextInt(LARGEST)];
        random.nextBytes(value);
        check(Arrays.equals(echo.bytes(value), value), "bytes");
    }

    private void share() {
        int pages = 1 + random.nextInt(40);
        Scope scope = libraryChannel.newSharedScope();
        try (scope) {
            Book book = LibraryService.fill(scope, "mine", pages);
            check(library.texts(book).size() == pages, "a shared argument");
            if (random.nextInt(4) == 0) {
                library.keep(book);
            }
        }
        Book written = library.write("theirs", pages);
        check(written.pages().get(pages - 1).text().equals("theirs " + (pages - 1)), "a shared result");
        libraryChannel.release(written);
    }

    private void connect() {
        try (RpcChannel fresh = builder("/test/echo").open()) {
            check(fresh.stub(Echo.class).add(20, 22) == 42, "a sum");
        }
    }

    private void check(boolean right, String what) {
        if (!right) {
            throw new AssertionError(style + ": " + what + " came back wrong");
        }
    }

    @Override
    public void close() {
        echoChannel.close();
        libraryChannel.close();
    }
}
