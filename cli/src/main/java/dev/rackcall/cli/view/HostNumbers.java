package dev.rackcall.cli.view;

import dev.rackcall.cli.top.TopWatch;
import dev.rackcall.cp.Tenant;
import dev.rackcall.rdma.queue.QueueSettings;
import dev.rackcall.rpc.RpcServer;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * Serves this host's numbers to the {@code rackcall view} of other hosts: over the virtual queues of its agent, whose
 * device and certificates decide which hosts may ask. Readers change nothing here, and any number of them costs one sampling a
 * second; without readers nothing is sampled. A thread of its own serves as soon as the directory answers.
 */
public final class HostNumbers implements AutoCloseable {
    private static final int MOST_READERS = 16;
    /** Each reader has a mirrored end here, of two arenas of this size. */
    private static final long ARENA_BYTES = 1 << 20;

    private static final long RETRY_SECONDS = 2;
    private static final Duration END = Duration.ofSeconds(10);
    /** A reader that does not leave by then does not delay the agent's end. */
    private static final Duration FAREWELL = Duration.ofSeconds(1);

    private final Tenant tenant;
    private final ViewSampler sampler;
    private final Supplier<RpcServer> start;
    private final Consumer<String> say;
    private final CountDownLatch closing = new CountDownLatch(1);
    private final Thread thread;
    /** Guarded by the monitor. */
    private Optional<RpcServer> server = Optional.empty();

    private HostNumbers(Tenant tenant, ViewSampler sampler, Supplier<RpcServer> start, Consumer<String> say) {
        this.tenant = tenant;
        this.sampler = sampler;
        this.start = start;
        this.say = say;
        this.thread = Thread.ofPlatform().daemon().name("rackcall-numbers").unstarted(this::serve);
    }

    /**
     * Begins to serve.
     *
     * @param tenant of the host's agent; closed with this
     * @param host the agent's name
     * @param directory where it is announced
     * @param runtime the agent's runtime folder
     * @param watches begins to watch the host
     * @param say told when it serves, and why it does not yet
     */
    public static HostNumbers serve(
            Tenant tenant, String host, URI directory, Path runtime, Supplier<TopWatch> watches, Consumer<String> say) {
        QueueSettings.use(host, tenant);
        ViewSampler sampler = ViewSampler.of(watches, new ViewHistory(host, "", _ -> Optional.empty()));
        Supplier<RpcServer> start = () -> RpcServer.builder()
                .service(HostView.class, new Answers(sampler))
                .runtimeFolder(runtime)
                .maxConnections(MOST_READERS)
                .arenaQuota(ARENA_BYTES)
                .sharedQuota(ARENA_BYTES)
                .pollers(1)
                .listen(URI.create("vq://" + host + ":0"))
                .directory(directory)
                .host(host)
                .start();
        return serve(tenant, sampler, start, say);
    }

    /** Serves what the sampler sees once {@code start} succeeds. */
    static HostNumbers serve(Tenant tenant, ViewSampler sampler, Supplier<RpcServer> start, Consumer<String> say) {
        HostNumbers numbers = new HostNumbers(tenant, sampler, start, say);
        numbers.thread.start();
        return numbers;
    }

    private void serve() {
        String last = "";
        try {
            do {
                try {
                    keep(start.get());
                    say.accept("serves this host's numbers to rackcall view on other hosts");
                    return;
                } catch (RuntimeException e) {
                    // The directory may answer later. An agent may also have a name that is no host's in an address.
                    if (!last.equals(e.getMessage())) {
                        last = String.valueOf(e.getMessage());
                        say.accept("does not serve this host's numbers to rackcall view on other hosts yet: " + last);
                    }
                }
            } while (!closing.await(RETRY_SECONDS, TimeUnit.SECONDS));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void keep(RpcServer started) {
        synchronized (this) {
            if (closing.getCount() > 0) {
                server = Optional.of(started);
                return;
            }
        }
        // close() did not wait for this server to start.
        started.shutdown(FAREWELL);
    }

    private synchronized Optional<RpcServer> take() {
        Optional<RpcServer> taken = server;
        server = Optional.empty();
        return taken;
    }

    /** Withdraws the announcement and stops serving, even if the calling thread is interrupted. */
    @Override
    public void close() throws InterruptedException {
        closing.countDown();
        thread.interrupt();
        try {
            thread.join(END);
        } finally {
            take().ifPresent(each -> each.shutdown(FAREWELL));
            QueueSettings.forget(tenant);
            tenant.close();
            sampler.close();
        }
    }

    /** The service. It never waits. */
    static final class Answers implements HostView {
        /** All readers together get a moment this often. */
        static final int MOST_ANSWERS = 64;

        private final ViewSampler sampler;
        /** Guarded by the monitor, as all below are. */
        private ViewState last = HostStates.NOTHING;

        private int answers;

        Answers(ViewSampler sampler) {
            this.sampler = sampler;
        }

        @Override
        public synchronized Optional<ViewState> latest(long after) {
            Optional<ViewState> news = sampler.latestAfter(after);
            if (news.isEmpty()) {
                return news;
            }
            if (news.get().sequence() != last.sequence()) {
                last = HostStates.fit(news.get(), HostStates.MOST_CONNECTIONS);
                answers = 0;
            }
            return answers++ < MOST_ANSWERS ? Optional.of(last) : Optional.empty();
        }
    }
}
