package dev.rackcall.rpc.call;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcContext;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.contract.RpcFixture;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.types.SharedBytes;
import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.Concurrently;
import dev.rackcall.testkit.Usage;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.channels.Pipe;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A connection ends while a user writes a part of its memory to a pipe: the memory stays mapped until the write is
 * done. The test decides how long the reader takes.
 */
class SlowReaderTest extends RpcFixture {
    /** More than a pipe holds, and more than is pushed to a server with its own memory. */
    private static final int BYTES = 5 << 20;

    private static final URI ADDRESS = URI.create("copy://slow-reader");

    private final Pipe pipe;

    SlowReaderTest() throws IOException {
        pipe = Pipe.open();
    }

    @AfterEach
    void close() throws IOException {
        pipe.sink().close();
        pipe.source().close();
    }

    private CompletableFuture<Integer> write(MemorySegment bytes) {
        return Concurrently.start(() -> pipe.sink().write(bytes.asByteBuffer()));
    }

    private void read(int bytes) throws IOException {
        ByteBuffer into = ByteBuffer.allocate(bytes);
        while (into.hasRemaining()) {
            pipe.source().read(into);
        }
    }

    private RpcServer serve(Blobs blobs) {
        return serving(Blobs.class, blobs).listen(ADDRESS).start();
    }

    private RpcChannel.Builder channel() {
        return channel(Blobs.class).arenaQuota(4L * BYTES);
    }

    private static Blobs.Blob blob(Scope scope) {
        Blobs.Blob blob = scope.create(Blobs.Blob.class);
        blob.data(SharedBytes.create(scope, BYTES));
        return blob;
    }

    private void assertUnmappedAfterwards(MemorySegment part, Map<String, Integer> before) throws IOException {
        assertThat(part.get(ValueLayout.JAVA_BYTE, BYTES - 1)).isZero();
        read(BYTES - 1);
        Await.equal("what is left", Map.of(), () -> Usage.grownSince(before));
        assertThatThrownBy(() -> part.get(ValueLayout.JAVA_BYTE, 0)).isInstanceOf(IllegalStateException.class);
    }

    /** Creates the resources that a process keeps, and returns its usage afterwards. */
    private Map<String, Integer> warmUp() {
        try (RpcServer server = serve(blob -> new CompletableFuture<>())) {
            channel().open().close();
            channel().address(ADDRESS).open().close();
            Await.equal("connections", 0, server::connections);
        }
        return Usage.now();
    }

    @Test
    void shouldCloseAChannelOfWhoseMemoryItsUserWrites() throws Exception {
        Map<String, Integer> before = warmUp();
        MemorySegment part;
        CompletableFuture<Integer> writer;
        try (RpcServer server = serve(blob -> new CompletableFuture<>());
                RpcChannel channel = channel().open()) {
            assertThat(server.connections()).isOne();
            part = blob(channel.newScope(2L * BYTES)).data().segment();
            writer = write(part);
            read(1);
        }
        assertUnmappedAfterwards(part, before);
        writer.join();
    }

    /** The place of the bytes that a handler writes. */
    enum Place {
        ARGUMENT,
        SHARED_ARGUMENT,
        FETCHED_ARGUMENT,
        TEMPORARY;

        RpcChannel open(RpcChannel.Builder channel) {
            return (this == FETCHED_ARGUMENT ? channel.address(ADDRESS) : channel).open();
        }

        Scope scope(RpcChannel channel) {
            return this == SHARED_ARGUMENT ? channel.newSharedScope(2L * BYTES) : channel.newScope(2L * BYTES);
        }

        Blobs.Blob found(Blobs.Blob argument) {
            return this == TEMPORARY ? blob(RpcContext.current().orElseThrow().temporaryScope()) : argument;
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldEndWhateverAHandlerStillWrites(Place place) throws Exception {
        Map<String, Integer> before = warmUp();
        BlockingQueue<MemorySegment> written = new LinkedBlockingQueue<>();
        BlockingQueue<CompletableFuture<Integer>> writers = new LinkedBlockingQueue<>();
        Blobs blobs = argument -> {
            MemorySegment part = place.found(argument).data().segment();
            written.add(part);
            writers.add(write(part));
            return new CompletableFuture<>();
        };
        try (RpcServer server = serve(blobs)) {
            try (RpcChannel channel = place.open(channel());
                    Scope scope = place.scope(channel)) {
                CompletableFuture<Long> unanswered = channel.stub(Blobs.class).write(blob(scope));
                read(1);
                assertThat(unanswered).isNotDone();
            }
            Await.equal("connections", 0, server::connections);
        }
        assertUnmappedAfterwards(written.remove(), before);
        writers.remove().join();
    }
}
