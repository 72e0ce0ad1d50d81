package dev.rackcall.chronicle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcContext;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.Status;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.codec.PayloadException;
import dev.rackcall.shm.codec.PayloadReader;
import dev.rackcall.shm.types.SharedBytes;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.URI;
import java.nio.BufferOverflowException;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import net.openhft.chronicle.bytes.Bytes;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Bytes as arguments and results, by this host's memory and by a transport that shares none. */
class ChronicleBytesTest {
    @TempDir
    private Path folder;

    private final CountDownLatch looked = new CountDownLatch(1);
    private final CountDownLatch changed = new CountDownLatch(1);

    private RpcServer server;
    private RpcChannel channel;
    private Scope scope;

    private Papers connect(String transport) {
        RpcServer.Builder serving = RpcServer.builder().runtimeFolder(folder).service(Papers.class, new Printer());
        RpcChannel.Builder calling = RpcChannel.builder("/test/papers").runtimeFolder(folder);
        if (transport.equals("TCP")) {
            serving.listen(URI.create("soft://127.0.0.1:0"));
        }
        server = serving.start();
        server.address().ifPresent(calling::address);
        channel = calling.open();
        scope = channel.newScope();
        return channel.stub(Papers.class);
    }

    @AfterEach
    void close() {
        if (channel != null) {
            scope.close();
            channel.close();
            server.close();
        }
    }

    private final class Printer implements Papers {
        @Override
        public String text(Bytes<?> bytes) {
            return bytes.toString();
        }

        @Override
        public String textOfSnapshot(Bytes<?> bytes) {
            return bytes.toString();
        }

        @Override
        public int twice(Bytes<?> bytes) {
            int first = bytes.readByte(0);
            looked.countDown();
            try {
                assertThat(changed.await(60, TimeUnit.SECONDS)).isTrue();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
            return 10 * first + bytes.readByte(0);
        }

        @Override
        public Bytes<?> echo(Bytes<?> bytes) {
            return bytes;
        }

        @Override
        public Bytes<?> write(String text, boolean shared) {
            Bytes<?> bytes = shared
                    ? ChronicleBytes.create(RpcContext.current().orElseThrow().replyScope(), 100)
                    : Bytes.allocateElasticOnHeap(10);
            bytes.append(text);
            return bytes;
        }

        @Override
        public Bytes<?> blank(int bytes) {
            return ChronicleBytes.create(RpcContext.current().orElseThrow().replyScope(), bytes);
        }

        @Override
        public CompletableFuture<Bytes<?>> writeLater(String text) {
            return CompletableFuture.supplyAsync(() -> Bytes.from(text));
        }

        @Override
        public Page next(Page page) {
            return new Page(page.number() + 1, write(page.content() + " and more", true));
        }
    }

    private Bytes<?> shared(String text) {
        Bytes<?> bytes = ChronicleBytes.create(scope, 100);
        bytes.append(text);
        return bytes;
    }

    @ParameterizedTest
    @ValueSource(strings = {"PROCESS", "TCP"})
    void shouldPassWhatLiesBetweenTheTwoPositions(String transport) {
        Papers papers = connect(transport);
        Bytes<?> bytes = shared("two words");
        assertThat(papers.text(bytes)).isEqualTo("two words");
        bytes.readSkip(4);
        assertThat(papers.text(bytes)).isEqualTo("words");
        assertThat(papers.textOfSnapshot(bytes)).isEqualTo("words");
        assertThat(bytes.toString()).isEqualTo("words");

        Bytes<?> direct = Bytes.allocateElasticDirect();
        direct.append("elsewhere").readSkip(4);
        assertThat(papers.text(direct)).isEqualTo("where");
        direct.releaseLast();
        assertThat(papers.text(Bytes.from("on the heap"))).isEqualTo("on the heap");
        assertThat(papers.text(Bytes.allocateElasticOnHeap(1))).isEmpty();
        assertThat(papers.text(ChronicleBytes.create(scope, 0))).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"PROCESS", "TCP"})
    void shouldReturnByPointerAndByCopy(String transport) throws Exception {
        Papers papers = connect(transport);
        for (boolean inSharedMemory : new boolean[] {true, false}) {
            Bytes<?> result = papers.write("an answer", inSharedMemory);
            assertThat(result.toString()).isEqualTo("an answer");
            assertThat(result.bytesStore() instanceof SharedStore).isEqualTo(inSharedMemory);
            ChronicleBytes.release(channel, result);
        }
        assertThat(papers.writeLater("later").get(60, TimeUnit.SECONDS).toString())
                .isEqualTo("later");
        Papers.Page page = papers.next(new Papers.Page(1, shared("much")));
        assertThat(page.number()).isEqualTo(2);
        assertThat(page.content().toString()).isEqualTo("much and more");
        ChronicleBytes.release(channel, page.content());
    }

    @Test
    void shouldShareMemoryWithTheHandler() throws Exception {
        Papers papers = connect("PROCESS");
        Bytes<?> bytes = ChronicleBytes.create(scope, 1);
        bytes.writeByte((byte) 1);
        CompletableFuture<Integer> sees = CompletableFuture.supplyAsync(() -> papers.twice(bytes));
        assertThat(looked.await(60, TimeUnit.SECONDS)).isTrue();
        bytes.writeByte(0, (byte) 2);
        changed.countDown();
        assertThat(sees.get(60, TimeUnit.SECONDS)).isEqualTo(12);
        assertThat(papers.echo(bytes).bytesStore()).isInstanceOf(SharedStore.class);
    }

    /** Together they are larger than the arena. */
    @Test
    void shouldFreeReleasedResults() {
        Papers papers = connect("PROCESS");
        for (int i = 0; i < 400; i++) {
            ChronicleBytes.release(channel, papers.blank(1 << 20));
        }
    }

    @Test
    void shouldRefuseWhatCannotBePassed() {
        Papers papers = connect("PROCESS");
        assertRefused(() -> papers.text(null), "'bytes' is null");
        Bytes<?> gone;
        try (Scope other = channel.newScope()) {
            gone = ChronicleBytes.create(other, 8);
        }
        assertRefused(() -> papers.text(gone), "'bytes'");
    }

    private static void assertRefused(Runnable call, String message) {
        assertThatThrownBy(call::run)
                .isInstanceOfSatisfying(
                        RpcException.class, e -> assertThat(e.code()).isEqualTo(Status.Code.INVALID_ARGUMENT))
                .hasMessageContaining(message);
    }

    @Test
    void shouldViewAFieldInPlaceAndNotAppendToIt() {
        connect("PROCESS");
        SharedBytes field = SharedBytes.copyOf(scope, new byte[] {1, 2, 3});
        Bytes<?> bytes = ChronicleBytes.over(field);
        field.set(2, (byte) 9);
        assertThat(bytes.toByteArray()).containsExactly(1, 2, 9);
        assertThatThrownBy(() -> bytes.writeByte((byte) 4)).isInstanceOf(BufferOverflowException.class);
    }

    @Test
    void shouldNotWriteBeyondItsCapacity() {
        connect("PROCESS");
        Bytes<?> bytes = ChronicleBytes.create(scope, 4);
        SharedBytes next = SharedBytes.copyOf(scope, new byte[] {1, 2, 3});
        bytes.writeInt(7);
        assertOverflow(() -> bytes.writeByte((byte) 9));
        assertOverflow(() -> bytes.append("text"));
        assertOverflow(() -> bytes.write(new byte[64]));
        assertOverflow(() -> bytes.writeByte(4, (byte) 9));
        assertOverflow(() -> bytes.writeLong(0, 9));
        bytes.clear();
        assertOverflow(() -> bytes.writeLong(9));
        assertThat(next.toArray()).containsExactly(1, 2, 3);
    }

    private static void assertOverflow(ThrowingCallable store) {
        assertThatThrownBy(store).isInstanceOfAny(BufferOverflowException.class, IndexOutOfBoundsException.class);
    }

    /** The other process may write anything. */
    @Test
    void shouldNotViewWhatLiesOutside() {
        connect("PROCESS");
        SharedBytes memory = SharedBytes.create(scope, 10);
        int[][] places = {{-1, 1}, {0, -1}, {0, 11}, {11, 0}, {6, 5}, {Integer.MAX_VALUE, 1}, {1, Integer.MAX_VALUE}};
        for (int[] place : places) {
            assertThatThrownBy(() -> view(memory, place[0], place[1])).isInstanceOf(PayloadException.class);
        }
        assertThat(view(memory, 10, 0).readRemaining()).isZero();
        assertThat(view(memory, 0, 10).readRemaining()).isEqualTo(10);
    }

    private static Bytes<?> view(SharedBytes memory, int offset, int length) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment payload = arena.allocateFrom(ValueLayout.JAVA_INT_UNALIGNED, offset, length);
            PayloadReader in = PayloadReader.create();
            in.begin(payload, 0, payload.byteSize());
            return ChronicleBytes.view(in, memory);
        }
    }
}
