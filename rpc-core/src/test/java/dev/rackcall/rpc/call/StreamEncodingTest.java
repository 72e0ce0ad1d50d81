package dev.rackcall.rpc.call;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.Status;
import dev.rackcall.testkit.Await;
import java.nio.file.Path;
import java.time.Duration;
import java.util.AbstractList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A stream whose elements block while they are encoded delays its own reader and no other call. */
@Timeout(60)
class StreamEncodingTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(10);

    @TempDir
    Path directory;

    private final CountDownLatch encoding = new CountDownLatch(1);
    private final CountDownLatch end = new CountDownLatch(1);
    private final CountDownLatch produced = new CountDownLatch(1);

    @AfterEach
    void goOn() {
        end.countDown();
    }

    private RpcServer serve(List<Feed.Item> items) {
        return RpcServer.builder()
                .service(Feed.class, new Feed() {
                    @Override
                    public Stream<Item> items() {
                        return Stream.concat(
                                items.stream(), Stream.<Item>empty().onClose(produced::countDown));
                    }

                    @Override
                    public long add(long first, long second) {
                        return first + second;
                    }
                })
                .directory(directory)
                .start();
    }

    private RpcChannel open() {
        return RpcChannel.builder("/test/feed")
                .directory(directory)
                .defaultTimeout(TIMEOUT)
                .open();
    }

    /** Reports the request for its element and provides it later. */
    private Feed.Item slowItem() {
        return new Feed.Item(new AbstractList<>() {
            @Override
            public Long get(int index) {
                encoding.countDown();
                try {
                    assertThat(end.await(50, TimeUnit.SECONDS)).isTrue();
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
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
        try (RpcServer server = serve(List.of(quick, slowItem()));
                RpcChannel reader = open();
                RpcChannel other = open();
                Stream<Feed.Item> items = reader.stub(Feed.class).items()) {
            assertThat(produced.await(20, TimeUnit.SECONDS)).isTrue();
            Thread reading = Thread.ofPlatform()
                    .start(() -> assertThat(items.map(Feed.Item::values)).containsExactly(List.of(1L), List.of(7L)));
            assertThat(encoding.await(20, TimeUnit.SECONDS)).isTrue();
            assertThat(other.stub(Feed.class).add(1, 2)).isEqualTo(3);
            assertThat(server.connections()).isEqualTo(2);
            end.countDown();
            assertThat(reading.join(Duration.ofSeconds(20))).isTrue();
        }
    }

    /** The first pull waits for the first element, which its producer encodes. */
    @Test
    void shouldLetGoOfAReaderThatHasGoneWhileItsElementIsEncoded() throws Exception {
        try (RpcServer server = serve(List.of(slowItem()));
                RpcChannel other = open()) {
            RpcChannel reader = open();
            Thread reading = Thread.ofPlatform().start(() -> {
                try (Stream<Feed.Item> items = reader.stub(Feed.class).items()) {
                    assertThat(items).isNotNull();
                } catch (RpcException e) {
                    assertThat(e.code()).isEqualTo(Status.Code.CANCELLED);
                }
            });
            assertThat(encoding.await(20, TimeUnit.SECONDS)).isTrue();
            reader.close();
            assertThat(reading.join(Duration.ofSeconds(20))).isTrue();
            // The poller closes the connection and its streams before it answers this.
            Await.until("the poller serves others", () -> other.stub(Feed.class).add(1, 2) == 3);
            end.countDown();
            Await.equal("connections", 1, server::connections);
        }
    }
}
