package dev.rackcall.rpc.call;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.isolation.SealedVault;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A client and a server that were built from different versions of an interface refuse to connect and report the
 * difference.
 */
@Timeout(60)
class VersionTest {
    @TempDir
    Path directory;

    private static final Feed TODAY = new Feed() {
        @Override
        public Stream<Item> items() {
            return Stream.empty();
        }

        @Override
        public long add(long first, long second) {
            return first + second;
        }
    };

    private static final FeedOfTomorrow TOMORROW = new FeedOfTomorrow() {
        @Override
        public Stream<Feed.Item> items() {
            return Stream.empty();
        }

        @Override
        public long add(int first, long second) {
            return first + second;
        }

        @Override
        public long multiply(long first, long second) {
            return first * second;
        }
    };

    private RpcServer.Builder server() {
        return RpcServer.builder().directory(directory);
    }

    private RpcChannel open() {
        return RpcChannel.builder("/test/feed").directory(directory).open();
    }

    private static void assertNamesBoth(RpcException refused) {
        assertThat(refused.code()).isEqualTo(Status.Code.FAILED_PRECONDITION);
        assertThat(refused)
                .hasMessageContaining("/test/feed")
                .hasMessageContaining(Feed.class.getName())
                .hasMessageContaining(FeedOfTomorrow.class.getName())
                .hasMessageContaining("multiply")
                .hasMessageContaining("build both from the same interface");
    }

    @Test
    void shouldRefuseAStubOfAnotherVersionAndSayWhatDiffers() {
        try (RpcServer server = server().service(Feed.class, TODAY).start();
                RpcChannel channel = open()) {
            assertNamesBoth(catchThrowableOfType(RpcException.class, () -> channel.stub(FeedOfTomorrow.class)));
            assertThat(channel.stub(Feed.class).add(1, 2)).isEqualTo(3);
            assertThat(server.connections()).isEqualTo(1);
        }
    }

    @Test
    void shouldNameBothServicesIfTheStubIsOfAnother() {
        try (RpcServer server = server().service(Feed.class, TODAY).start();
                RpcChannel channel = open()) {
            RpcException refused = catchThrowableOfType(RpcException.class, () -> channel.stub(SealedVault.class));
            assertThat(refused.code()).isEqualTo(Status.Code.FAILED_PRECONDITION);
            assertThat(refused)
                    .hasMessageContaining("channel /test/feed serves " + Feed.class.getName() + ", not "
                            + SealedVault.class.getName() + ": ")
                    .hasMessageContaining("or open /test/sealed, the channel of the latter")
                    .message()
                    .doesNotContain("multiply")
                    .matches(".*Fingerprints: [0-9a-f]{16} here, [0-9a-f]{16} there");
            assertThat(server).hasToString("RpcServer(/test/feed)");
            server.close();
            assertThat(server).hasToString("RpcServer(/test/feed, closed)");
        }
    }

    @Test
    void shouldRefuseTheCallsOfAStubWhoseServerCameBackInAnotherVersion() {
        RpcServer first = server().service(Feed.class, TODAY).start();
        try (RpcChannel channel = open()) {
            Feed feed = channel.stub(Feed.class);
            assertThat(feed.add(1, 2)).isEqualTo(3);
            first.close();
            try (RpcServer second =
                    server().service(FeedOfTomorrow.class, TOMORROW).start()) {
                RpcException refused = catchThrowableOfType(RpcException.class, () -> {
                    // The first call may still meet the closing of the old connection.
                    for (int i = 0; i < 3; i++) {
                        feedOnceMore(feed);
                    }
                });
                assertNamesBoth(refused);
                assertThat(channel.stub(FeedOfTomorrow.class).multiply(2, 3)).isEqualTo(6);
                assertThat(second.connections()).isEqualTo(1);
            }
        } finally {
            first.close();
        }
    }

    private static void feedOnceMore(Feed feed) {
        try {
            assertThat(feed.add(1, 2)).as("an answer of another version's").isNull();
        } catch (RpcException e) {
            if (e.code() != Status.Code.UNAVAILABLE) {
                throw e;
            }
        }
    }
}
