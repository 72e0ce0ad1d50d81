package dev.rackcall.grpc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.rpc.runtime.RuntimeDirectory;
import dev.rackcall.rpc.runtime.ServerInstance;
import dev.rackcall.shm.os.file.OwnerLock;
import dev.rackcall.testkit.Await;
import io.grpc.EquivalentAddressGroup;
import io.grpc.NameResolver;
import io.grpc.Status;
import io.grpc.SynchronizationContext;
import io.grpc.internal.GrpcUtil;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RackcallNameResolverTest {
    private static final String CHANNEL = "/test/names";
    private static final FileTime OLD = FileTime.fromMillis(1);

    @TempDir
    private Path directory;

    private final BlockingQueue<List<EquivalentAddressGroup>> told = new LinkedBlockingQueue<>();
    private final AtomicReference<Throwable> panic = new AtomicReference<>();
    private final SynchronizationContext context = new SynchronizationContext((thread, failure) -> panic.set(failure));

    private ServerInstance server(String id) {
        return RuntimeDirectory.at(directory).instance(CHANNEL, id);
    }

    /** A server whose lock file cannot be opened: the kernel follows no link there. */
    private void breakServer(String id) throws IOException {
        Files.createFile(server(id).socket());
        Files.createSymbolicLink(server(id).lock(), Path.of("nowhere"));
        Files.setLastModifiedTime(directory, OLD);
    }

    private void mend(String id) throws IOException {
        Files.delete(server(id).lock());
        Files.delete(server(id).socket());
        // The next look has no other reason to try again than that the last one failed.
        Files.setLastModifiedTime(directory, OLD);
    }

    private List<EquivalentAddressGroup> nextTold() throws InterruptedException {
        return told.poll(100, TimeUnit.SECONDS);
    }

    private EquivalentAddressGroup group(String id) {
        return new EquivalentAddressGroup(
                RackcallSocketAddress.of(CHANNEL, directory).ofServer(id));
    }

    private NameResolver.Args arguments(ScheduledExecutorService timers) {
        return arguments(context, timers);
    }

    static NameResolver.Args arguments(SynchronizationContext context, ScheduledExecutorService timers) {
        return NameResolver.Args.newBuilder()
                .setDefaultPort(1)
                .setProxyDetector(GrpcUtil.NOOP_PROXY_DETECTOR)
                .setSynchronizationContext(context)
                .setServiceConfigParser(new NameResolver.ServiceConfigParser() {
                    @Override
                    public NameResolver.ConfigOrError parseServiceConfig(Map<String, ?> config) {
                        return NameResolver.ConfigOrError.fromConfig(config);
                    }
                })
                .setScheduledExecutorService(timers)
                .build();
    }

    /** The timers' thread may be in a look, and run the shutdown after it. */
    private void end(NameResolver resolver, ScheduledExecutorService timers) throws InterruptedException {
        CountDownLatch ended = new CountDownLatch(1);
        context.execute(() -> {
            resolver.shutdown();
            ended.countDown();
        });
        assertThat(ended.await(100, TimeUnit.SECONDS)).isTrue();
        timers.shutdownNow();
    }

    /** An exception that escapes a resolver makes gRPC panic, which ends the channel for good. */
    @Test
    void shouldGoOnAfterAnErrorInALookAtTheDirectory() throws Exception {
        BlockingQueue<Status> failures = new LinkedBlockingQueue<>();
        AtomicBoolean broken = new AtomicBoolean(true);
        ScheduledExecutorService timers = Executors.newSingleThreadScheduledExecutor();
        DirectoryNameResolver resolver =
                new DirectoryNameResolver(CHANNEL, directory.resolve("names").toUri(), false, arguments(timers));
        try {
            context.execute(() -> resolver.start(new Listening() {
                @Override
                public Status onResult2(NameResolver.ResolutionResult result) {
                    if (broken.getAndSet(false)) {
                        throw new UnsatisfiedLinkError("planted");
                    }
                    failures.add(result.getAddressesOrError().getStatus());
                    return Status.OK;
                }
            }));
            assertThat(failures.poll(100, TimeUnit.SECONDS).getDescription()).contains("UnsatisfiedLinkError: planted");
            context.execute(resolver::refresh);
            assertThat(failures.poll(100, TimeUnit.SECONDS).getDescription()).contains("no gRPC server of channel");
        } finally {
            end(resolver, timers);
            // The resolver leaves the directory on a thread of its own.
            Await.deleted(directory.resolve("names"));
        }
        assertThat(panic.get()).isNull();
    }

    @Test
    void shouldKeepWhatItKnowsWhileTheDirectoryCannotBeRead() throws Exception {
        ScheduledExecutorService timers = Executors.newSingleThreadScheduledExecutor();
        RackcallNameResolver resolver =
                new RackcallNameResolver(RackcallSocketAddress.of(CHANNEL, directory), false, arguments(timers));
        try (OwnerLock one = OwnerLock.tryAcquire(server("grpcaa").lock()).orElseThrow()) {
            breakServer("grpcbb");
            context.execute(() -> resolver.start(new Listening()));
            assertThat(nextTold())
                    .isEqualTo(List.of(new EquivalentAddressGroup(RackcallSocketAddress.of(CHANNEL, directory))));
            mend("grpcbb");
            assertThat(nextTold()).isEqualTo(List.of(group("grpcaa")));
            breakServer("grpcbb");
            context.execute(resolver::refresh);
            mend("grpcbb");
            try (OwnerLock other = OwnerLock.tryAcquire(server("grpccc").lock()).orElseThrow()) {
                assertThat(List.of(one.isAtPath(), other.isAtPath())).containsOnly(true);
                assertThat(nextTold()).containsExactlyInAnyOrder(group("grpcaa"), group("grpccc"));
            }
        } finally {
            end(resolver, timers);
        }
        assertThat(panic.get()).isNull();
    }

    @Test
    void shouldReportThatThereIsNoServerIfThereIsAFallback() throws Exception {
        BlockingQueue<Status> failures = new LinkedBlockingQueue<>();
        ScheduledExecutorService timers = Executors.newSingleThreadScheduledExecutor();
        RackcallNameResolver resolver =
                new RackcallNameResolver(RackcallSocketAddress.of(CHANNEL, directory), true, arguments(timers));
        try {
            breakServer("grpcbb");
            context.execute(() -> resolver.start(new Listening() {
                @Override
                public Status onResult2(NameResolver.ResolutionResult result) {
                    return result.getAddressesOrError().hasValue()
                            ? super.onResult2(result)
                            : failures.add(result.getAddressesOrError().getStatus()) ? Status.OK : Status.INTERNAL;
                }
            }));
            assertThat(failures.poll(100, TimeUnit.SECONDS).getDescription())
                    .contains(CHANNEL)
                    .contains(directory.toString())
                    .contains("the last look failed");
            mend("grpcbb");
            try (OwnerLock one = OwnerLock.tryAcquire(server("grpcaa").lock()).orElseThrow()) {
                assertThat(one.isAtPath()).isTrue();
                assertThat(nextTold()).isEqualTo(List.of(group("grpcaa")));
            }
            assertThat(failures.poll(100, TimeUnit.SECONDS).getDescription())
                    .contains(CHANNEL)
                    .doesNotContain("the last look failed");
        } finally {
            end(resolver, timers);
        }
        assertThat(panic.get()).isNull();
    }

    private class Listening extends NameResolver.Listener2 {
        @Override
        public void onResult(NameResolver.ResolutionResult result) {
            told.add(result.getAddressesOrError().getValue());
        }

        @Override
        public Status onResult2(NameResolver.ResolutionResult result) {
            onResult(result);
            return Status.OK;
        }

        @Override
        public void onError(Status error) {
            panic.set(error.asException());
        }
    }
}
