package dev.rackcall.rpc.call;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.contract.RpcFixture;
import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.Concurrently;
import java.time.Duration;
import java.util.AbstractList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A stream whose elements block while they are encoded delays its own reader and no other call. */
class StreamEncodingTest extends RpcFixture {
    private static final Duration TIMEOUT = Duration.ofSeconds(60);

    private final CountDownLatch encoding = new CountDownLatch(1);
    private final CountDownLatch end = new CountDownLatch(1);
    private final CountDownLatch produced = new CountDownLatch(1);

    @AfterEach
    void goOn() {
        end.countDown();
    }

    private RpcServer serve(List<Feed.Item> items) {
        return serve(
                Feed.class,
                Feed.of(() ->
                        Stream.concat(items.stream(), Stream.<Feed.Item>empty().onClose(produced::countDown))));
    }

    private RpcChannel open() {
        return open(channel(Feed.class).defaultTimeout(TIMEOUT));
    }

    /** Reports the request for its element and provides it later. */
    private Feed.Item slowItem() {
        return new Feed.Item(new AbstractList<>() {
            @Override
            public Long get(int index) {
                encoding.countDown();
                Await.latch(end);
                return 7L;
            }

            @Override
            public int size() {
                return 1;
            }
        });
    }

    /** The elements are ready before they are pulled, so the polling thread encodes them. */
    @Test
    void shouldServeOthersWhileAPullBlocks() throws Exception {
        Feed.Item quick = new Feed.Item(List.of(1L));
        RpcServer server = serve(List.of(quick, slowItem()));
        RpcChannel reader = open();
        RpcChannel other = open();
        try (Stream<Feed.Item> items = reader.stub(Feed.class).items()) {
            Await.latch(produced);
            CompletableFuture<List<List<Long>>> reading =
                    Concurrently.start(() -> items.map(Feed.Item::values).toList());
            Await.latch(encoding);
            assertThat(other.stub(Feed.class).add(1, 2)).isEqualTo(3);
            assertThat(server.connections()).isEqualTo(2);
            end.countDown();
            assertThat(Concurrently.get(reading)).containsExactly(List.of(1L), List.of(7L));
        }
    }

    /** The first pull waits for the first element, which its producer encodes. */
    @Test
    void shouldLetGoOfAReaderThatHasGoneWhileItsElementIsEncoded() throws Exception {
        RpcServer server = serve(List.of(slowItem()));
        RpcChannel other = open();
        RpcChannel reader = open();
        CompletableFuture<Status.Code> reading = Concurrently.start(
                () -> codeOf(() -> reader.stub(Feed.class).items().close()));
        Await.latch(encoding);
        reader.close();
        assertThat(Concurrently.get(reading)).isIn(Status.Code.OK, Status.Code.CANCELLED);
        // The poller closes the connection and its streams before it answers this.
        Await.until("the poller serves others", () -> other.stub(Feed.class).add(1, 2) == 3);
        end.countDown();
        Await.equal("connections", 1, server::connections);
    }
}
