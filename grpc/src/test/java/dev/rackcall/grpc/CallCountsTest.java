package dev.rackcall.grpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.rackcall.rpc.shm.notes.PipeNote;
import dev.rackcall.rpc.shm.notes.ProcessId;
import dev.rackcall.rpc.shm.view.ConnectionReading;
import dev.rackcall.rpc.shm.view.ConnectionState;
import dev.rackcall.rpc.shm.view.InvalidMemoryException;
import dev.rackcall.rpc.shm.view.PipeConnectionMemory;
import dev.rackcall.shm.os.file.ObservedFile;
import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.Usage;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.Server;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What {@code rackcall top} can count of a connection from outside: each call begins once and ends once, however it ends. */
class CallCountsTest {
    private static final String CHANNEL =
            "/test/counts" + ProcessHandle.current().pid();
    private static final String FILE = "memfd:" + PipeNote.NAME + CHANNEL + " ";
    private static final int CALLS = 100;

    @TempDir
    private Path directory;

    private final BytesService service = new BytesService();

    /** Reads one end's note in each connection's memory; both ends of this process may hold the same. */
    private static List<PipeNote.End> ends(boolean isServer) {
        List<PipeNote.End> ends = new ArrayList<>();
        for (Path each : descriptors()) {
            try (Arena lifetime = Arena.ofConfined()) {
                MemorySegment page = lifetime.allocate(PipeNote.PAGE_BYTES, Long.BYTES);
                ObservedFile file = ObservedFile.open(each);
                try {
                    file.read(page.asByteBuffer(), 0);
                } finally {
                    file.close();
                }
                PipeNote.End end = PipeNote.read(page, isServer);
                if (end.process().isKnown()) {
                    ends.add(end);
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
        return ends;
    }

    private static List<Path> descriptors() {
        try (Stream<Path> links = Files.list(Path.of("/proc/self/fd"))) {
            return links.filter(link -> {
                        try {
                            return Files.readSymbolicLink(link).toString().contains(FILE);
                        } catch (IOException e) {
                            return false;
                        }
                    })
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private RackcallServerBuilder server() {
        return RackcallServerBuilder.forAddress(RackcallSocketAddress.of(CHANNEL, directory))
                .addService(service);
    }

    private static ConnectionReading read(PipeConnectionMemory memory) {
        try {
            return memory.read();
        } catch (IOException | InvalidMemoryException e) {
            throw new AssertionError(e);
        }
    }

    private static ClientCall<byte[], byte[]> hold(ManagedChannel channel) {
        ClientCall<byte[], byte[]> call = channel.newCall(BytesService.HOLD, CallOptions.DEFAULT);
        ClientCalls.asyncUnaryCall(call, new byte[1], new StreamObserver<>() {
            @Override
            public void onNext(byte[] value) {}

            @Override
            public void onError(Throwable failure) {}

            @Override
            public void onCompleted() {}
        });
        return call;
    }

    @Test
    void shouldCountCallsOverMemory() throws Exception {
        Server server = server().build().start();
        ManagedChannel channel = RackcallChannelBuilder.forAddress(RackcallSocketAddress.of(CHANNEL, directory))
                .build();
        try {
            call(channel);
            try (PipeConnectionMemory memory =
                    PipeConnectionMemory.open(descriptors().getFirst()).orElseThrow()) {
                assertThat(read(memory).server()).isEqualTo(ProcessId.current());
                assertThat(read(memory).client()).isEqualTo(ProcessId.current());
                assertThat(read(memory).state()).isEqualTo(ConnectionState.OPEN);
                shouldBalance(channel);

                hold(channel);
                service.held.acquire();
                server.shutdown();
                Await.until("the drain", () -> read(memory).state() == ConnectionState.DRAINING);
                service.letGo.release();
                Await.until("the end", () -> read(memory).state() == ConnectionState.ENDED);
            }
            Await.equal("descriptors of the ended connection", 0L, () -> Usage.descriptors(FILE));
        } finally {
            channel.shutdownNow();
            server.shutdownNow();
            server.awaitTermination();
        }
    }

    @Test
    void shouldTellThatTheClientDrains() throws Exception {
        Server server = server().build().start();
        // While it may retry a call, gRPC does not tell its connections that their channel was shut down.
        ManagedChannel channel = RackcallChannelBuilder.forAddress(RackcallSocketAddress.of(CHANNEL, directory))
                .disableRetry()
                .build();
        try {
            hold(channel);
            service.held.acquire();
            try (PipeConnectionMemory memory =
                    PipeConnectionMemory.open(descriptors().getFirst()).orElseThrow()) {
                assertThat(read(memory).state()).isEqualTo(ConnectionState.OPEN);
                channel.shutdown();
                Await.until("the drain", () -> read(memory).state() == ConnectionState.DRAINING);
                service.letGo.release();
                Await.until("the end", () -> read(memory).state() == ConnectionState.ENDED);
            }
            Await.equal("descriptors of the ended connection", 0L, () -> Usage.descriptors(FILE));
        } finally {
            channel.shutdownNow();
            server.shutdownNow();
            server.awaitTermination();
        }
    }

    @Test
    void shouldCountCallsOverTheSoftwareDevice() throws Exception {
        Server server =
                server().listen(URI.create("rdma://127.0.0.1:0")).build().start();
        ManagedChannel channel = RackcallChannelBuilder.forAddress(
                        (RackcallSocketAddress) server.getListenSockets().getLast())
                .build();
        try {
            call(channel);
            assertThat(descriptors()).hasSize(2);
            shouldBalance(channel);
        } finally {
            channel.shutdownNow();
            server.shutdownNow();
            server.awaitTermination();
        }
        Await.equal("descriptors of the ended connection", 0L, () -> Usage.descriptors(FILE));
    }

    private static void call(ManagedChannel channel) {
        ClientCalls.blockingUnaryCall(channel, BytesService.ECHO, CallOptions.DEFAULT, new byte[8]);
    }

    /** Makes calls that end in many ways after the first one; both ends then count the same. */
    private void shouldBalance(ManagedChannel channel) throws InterruptedException {
        for (int i = 0; i < CALLS; i++) {
            call(channel);
        }
        awaitCounts(CALLS + 1, 0);

        ClientCall<byte[], byte[]> cancelled = hold(channel);
        hold(channel);
        hold(channel);
        service.held.acquire(3);
        awaitCounts(CALLS + 4, 3);
        cancelled.cancel("no longer needed", null);
        awaitCounts(CALLS + 4, 2);
        service.letGo.release(3);
        awaitCounts(CALLS + 4, 0);

        MethodDescriptor<byte[], byte[]> unknown = BytesService.ECHO.toBuilder()
                .setFullMethodName("test.Bytes/Unknown")
                .build();
        assertThatThrownBy(() -> ClientCalls.blockingUnaryCall(channel, unknown, CallOptions.DEFAULT, new byte[1]))
                .isInstanceOf(StatusRuntimeException.class);
        int parts = 0;
        for (var answers = ClientCalls.blockingServerStreamingCall(
                        channel, BytesService.REPEAT, CallOptions.DEFAULT, new byte[1]);
                answers.hasNext();
                answers.next()) {
            parts++;
        }
        assertThat(parts).isEqualTo(BytesService.PARTS);
        awaitCounts(CALLS + 6, 0);
    }

    private static void awaitCounts(long begun, long inFlight) {
        for (boolean isServer : new boolean[] {true, false}) {
            Await.until(
                    begun + " calls, " + inFlight + " in flight, at the " + (isServer ? "server" : "client"),
                    () -> !ends(isServer).isEmpty()
                            && ends(isServer).stream()
                                    .allMatch(end -> end.begun() == begun && end.begun() - end.ended() == inFlight));
        }
    }
}
