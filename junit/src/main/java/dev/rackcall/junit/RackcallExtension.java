package dev.rackcall.junit;

import dev.rackcall.rpc.DeadlineClock;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolutionException;
import org.junit.jupiter.api.extension.ParameterResolver;

/**
 * Gives each test a server of its own, and channels to it, in a temporary runtime folder. A test gets stubs of the
 * services, the {@link RpcServer}, the {@link RpcChannel} of the first service and the {@link CallFaults} as parameters.
 *
 * <pre>{@code
 * @RegisterExtension
 * final RackcallExtension rackcall = RackcallExtension.serving(Cart.class, Basket::new);
 *
 * @Test
 * void shouldKeepGoods(Cart cart) { ... }
 * }</pre>
 *
 * <p>Parameters are those of test, {@code @BeforeEach} and {@code @AfterEach} methods. The faults are the innermost
 * interceptors: those of the test's own settings see them.
 *
 * <p>Belongs to one test at a time, and refuses a second: tests that run concurrently need a field that is not static,
 * in a class without {@code Lifecycle.PER_CLASS}. Everything is closed after the test.
 */
public final class RackcallExtension implements BeforeEachCallback, AfterEachCallback, ParameterResolver {
    private final Map<Class<?>, Consumer<RpcServer.Builder>> services = new LinkedHashMap<>();
    private Consumer<RpcServer.Builder> serverSettings = _ -> {};
    private Consumer<RpcChannel.Builder> channelSettings = _ -> {};

    /** Of the test that runs. */
    private final AtomicReference<ExtensionContext> test = new AtomicReference<>();

    private CallFaults faults;
    private DeadlineClock clock;
    private Path folder;
    /** Null outside of tests. Replaced under {@link #restarts}, because any thread of a test may restart it. */
    private volatile RpcServer server;

    /** Held while the server is replaced; taken before {@link #channels}. */
    private final Object restarts = new Object();
    /** By service; the last is closed first. Guarded by itself, because any thread of a test may open a channel. */
    private final Map<Class<?>, RpcChannel> channels = new LinkedHashMap<>();

    private RackcallExtension() {}

    /**
     * Serves a service in each test.
     *
     * @param implementation makes the handler, once for each server
     */
    public static <S> RackcallExtension serving(Class<S> service, Supplier<? extends S> implementation) {
        return new RackcallExtension().and(service, implementation);
    }

    /** Serves another service, too. */
    public <S> RackcallExtension and(Class<S> service, Supplier<? extends S> implementation) {
        services.put(service, builder -> builder.service(service, implementation.get()));
        return this;
    }

    /** Applies more settings to each server. */
    public RackcallExtension server(Consumer<RpcServer.Builder> settings) {
        serverSettings = serverSettings.andThen(settings);
        return this;
    }

    /** Applies more settings to each channel. */
    public RackcallExtension channel(Consumer<RpcChannel.Builder> settings) {
        channelSettings = channelSettings.andThen(settings);
        return this;
    }

    // ---- for tests

    /** The server of this test. */
    public RpcServer server() {
        return server;
    }

    /** The runtime folder of this test, for servers and channels that it starts itself. */
    public Path folder() {
        return folder;
    }

    /** The faults of this test. */
    public CallFaults faults() {
        return faults;
    }

    /** A channel of that service, opened when it is first asked for. Any thread of the test may ask. */
    public RpcChannel channel(Class<?> service) {
        requireServed(service);
        synchronized (channels) {
            RpcChannel present = channels.get(service);
            if (present != null) {
                return present;
            }
            if (server == null) {
                throw new IllegalStateException("no test runs, so there is no channel of " + service.getName()
                        + "; a thread that outlives its test must not use the extension");
            }
            RpcChannel opened = open(service);
            channels.put(service, opened);
            return opened;
        }
    }

    private void requireServed(Class<?> service) {
        if (!services.containsKey(service)) {
            throw new IllegalArgumentException(
                    service.getName() + " is not served in this test; add it with serving(...) or and(...)");
        }
    }

    /** A stub of that service. */
    public <S> S stub(Class<S> service) {
        return channel(service).stub(service);
    }

    /**
     * Closes the server at once, as if its process had ended: calls in flight, and later ones, end with UNAVAILABLE. The
     * futures of asynchronous calls may complete after this method has returned.
     */
    public void loseServer() {
        running().shutdown(Duration.ZERO);
    }

    /** Starts a new server, with new handlers. Channels find it at their next call. Any thread of the test may do it. */
    public void restartServer() {
        synchronized (restarts) {
            loseServer();
            server = start();
        }
    }

    /**
     * Closes the channels of this test at once. To the server it is as if the client's process had ended: handlers whose
     * calls are in flight see the cancellation, and their streams end. Those calls, and later ones of the present stubs,
     * end with CANCELLED. {@link #channel} and {@link #stub} then open new channels. Any thread of the test may do it.
     */
    public void loseClient() {
        running();
        List<RpcChannel> lost;
        synchronized (channels) {
            lost = List.copyOf(channels.values());
            channels.clear();
        }
        closeAll(lost.reversed(), "a channel of the test was not closed");
    }

    private RpcServer running() {
        RpcServer current = server;
        if (current == null) {
            throw new IllegalStateException(
                    "no test runs, so there is no server; a thread that outlives its test must not use the extension");
        }
        return current;
    }

    /**
     * Lets that much time pass at once for the deadlines of this test's calls. A call whose deadline then has passed ends
     * with DEADLINE_EXCEEDED within 150 ms, unless it is answered before. Its handler sees the same as in real time.
     * Advance the clock when the calls have begun, for example once {@link CallFaults#waiting} counts them. The clock runs
     * on by itself, too.
     *
     * <p>It is the clock of this test's server and of the channels that this extension opens. Channels that the server's
     * implementations open when they are made have it, too. Other tests have other clocks. What the runtime does on the way, such
     * as waiting for a lost server, takes real time. A {@link dev.rackcall.rpc.Deadline} that a test makes is a moment of
     * real time until a stub with it calls, so prefer timeouts. Over a network, the other end sees real time.
     *
     * @throws IllegalArgumentException if the time is negative
     */
    public void advanceClock(Duration time) {
        clock.advance(time);
    }

    // ---- the life of a test

    @Override
    public void beforeEach(ExtensionContext context) throws IOException {
        if (!test.compareAndSet(null, context)) {
            throw new IllegalStateException("another test runs with this RackcallExtension; tests that run concurrently"
                    + " need one each: a field that is not static, in a class without Lifecycle.PER_CLASS");
        }
        folder = Files.createTempDirectory("rackcall-test");
        faults = new CallFaults(this::channelName);
        clock = DeadlineClock.create();
        server = start();
    }

    private RpcServer start() {
        return clock.during(this::startOnClock);
    }

    private RpcServer startOnClock() {
        RpcServer.Builder builder = RpcServer.builder().runtimeFolder(folder);
        services.values().forEach(service -> service.accept(builder));
        serverSettings.accept(builder);
        // The innermost, so that the test's own interceptors see the faults.
        return builder.interceptor(faults.atServer()).start();
    }

    private RpcChannel open(Class<?> service) {
        RpcChannel.Builder builder = RpcChannel.builder(channelName(service)).runtimeFolder(folder);
        channelSettings.accept(builder);
        builder.interceptor(faults.atClient());
        return clock.during(builder::open);
    }

    /** The server lists its channels in the order in which the services were added. */
    private String channelName(Class<?> service) {
        requireServed(service);
        int index = services.keySet().stream().toList().indexOf(service);
        return server.channels().get(index);
    }

    @Override
    public void afterEach(ExtensionContext context) {
        // JUnit also ends a test that could not begin because another one runs.
        if (test.get() != context) {
            return;
        }
        try {
            close();
        } finally {
            test.set(null);
        }
    }

    private void close() {
        Deque<AutoCloseable> all = new ArrayDeque<>();
        // The last, when nothing writes there any more.
        all.push(this::deleteFolder);
        if (faults != null) {
            faults.clear();
        }
        synchronized (restarts) {
            RpcServer last = server;
            if (last != null) {
                all.push(() -> last.shutdown(Duration.ZERO));
            }
            synchronized (channels) {
                channels.values().forEach(all::push);
                channels.clear();
                server = null;
            }
        }
        try {
            closeAll(all, "what the test used was not cleaned up: its channels, its server or its folder " + folder);
        } finally {
            folder = null;
        }
    }

    /** Closes all of them, whether or not one fails. */
    private static void closeAll(Iterable<? extends AutoCloseable> all, String problem) {
        IllegalStateException failure = null;
        for (AutoCloseable each : all) {
            try {
                each.close();
            } catch (Exception | Error e) {
                if (failure == null) {
                    failure = new IllegalStateException(problem, e);
                } else {
                    failure.addSuppressed(e);
                }
            }
        }
        if (failure != null) {
            throw failure;
        }
    }

    private void deleteFolder() throws IOException {
        // A server removes its runtime folder if it is empty.
        if (folder == null || !Files.exists(folder)) {
            return;
        }
        try (Stream<Path> files = Files.walk(folder)) {
            files.sorted((one, other) -> other.compareTo(one)).forEach(RackcallExtension::delete);
        }
    }

    private static void delete(Path file) {
        try {
            Files.deleteIfExists(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    // ---- parameters

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
        Class<?> type = parameter.getParameter().getType();
        return type == RpcServer.class
                || type == RpcChannel.class
                || type == CallFaults.class
                || services.containsKey(type);
    }

    @Override
    public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
        Class<?> type = parameter.getParameter().getType();
        if (test.get() != context || server == null) {
            throw new ParameterResolutionException("no server runs here, so there is no " + type.getSimpleName()
                    + "; take it as a parameter of a test, @BeforeEach or @AfterEach method, not of a constructor,"
                    + " @BeforeAll or @AfterAll method");
        }
        if (type == RpcServer.class) {
            return server;
        } else if (type == RpcChannel.class) {
            return channel(services.keySet().iterator().next());
        } else if (type == CallFaults.class) {
            return faults;
        }
        return stub(type);
    }
}
