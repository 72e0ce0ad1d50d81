package dev.rackcall.rpc.call;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.contract.RpcFixture;
import dev.rackcall.rpc.isolation.SealedVault;
import dev.rackcall.testkit.Await;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

/**
 * A client and a server that were built from different versions of an interface refuse to connect and report the
 * difference.
 */
class VersionTest extends RpcFixture {

    private static final Feed TODAY = Feed.of(Stream::empty);

    private static final FeedOfTomorrow TOMORROW = new FeedOfTomorrow() {
        @Override
        public Stream<Feed.Item> items() {
            return Stream.empty();
        }

        @Override
        public long add(double first, long second) {
            return (long) first + second;
        }

        @Override
        public long multiply(long first, long second) {
            return first * second;
        }
    };

    private static void assertRefusalNamesBoth(ThrowingCallable call) {
        assertFails(Status.Code.FAILED_PRECONDITION, call)
                .hasMessageContainingAll(
                        "/test/feed",
                        Feed.class.getName(),
                        FeedOfTomorrow.class.getName(),
                        "multiply",
                        "build both from the same interface");
    }

    @Test
    void shouldRefuseAStubOfAnotherVersionAndSayWhatDiffers() {
        RpcServer server = serve(Feed.class, TODAY);
        RpcChannel channel = open(Feed.class);
        assertRefusalNamesBoth(() -> channel.stub(FeedOfTomorrow.class));
        assertThat(channel.stub(Feed.class).add(1, 2)).isEqualTo(3);
        assertThat(server.connections()).isEqualTo(1);
    }

    @Test
    void shouldNameBothServicesIfTheStubIsOfAnother() {
        RpcServer server = serve(Feed.class, TODAY);
        RpcChannel channel = open(Feed.class);
        assertFails(Status.Code.FAILED_PRECONDITION, () -> channel.stub(SealedVault.class))
                .hasMessageContainingAll(
                        "channel /test/feed serves " + Feed.class.getName() + ", not " + SealedVault.class.getName()
                                + ": ",
                        "or open /test/sealed, the channel of the latter")
                .message()
                .doesNotContain("multiply")
                .matches(".*Fingerprints: [0-9a-f]{16} here, [0-9a-f]{16} there");
        assertThat(server).hasToString("RpcServer(/test/feed)");
        server.close();
        assertThat(server).hasToString("RpcServer(/test/feed, closed)");
    }

    @Test
    void shouldRefuseTheCallsOfAStubWhoseServerCameBackInAnotherVersion() {
        RpcServer first = serve(Feed.class, TODAY);
        RpcChannel channel = open(Feed.class);
        Feed feed = channel.stub(Feed.class);
        assertThat(feed.add(1, 2)).isEqualTo(3);
        first.close();
        RpcServer second = serve(FeedOfTomorrow.class, TOMORROW);
        assertRefusalNamesBoth(() -> {
            // The first call may still meet the closing of the old connection.
            for (int i = 0; i < 3; i++) {
                feedOnceMore(feed);
            }
        });
        assertThat(channel.stub(FeedOfTomorrow.class).multiply(2, 3)).isEqualTo(6);
        Await.equal("connections", 1, second::connections);
    }

    /** Chance decides which server a channel reaches first, so there are many channels. */
    @Test
    void shouldFindTheServerOfItsVersionBesideAnotherOne() {
        serve(Feed.class, TODAY);
        serve(FeedOfTomorrow.class, TOMORROW);
        for (int i = 0; i < 20; i++) {
            try (RpcChannel channel = channel(Feed.class).open()) {
                Feed feed = channel.stub(Feed.class);
                assertThat(feed.add(1, 2)).isEqualTo(3);
                assertRefusalNamesBoth(() -> channel.stub(FeedOfTomorrow.class));
                assertThat(feed.add(2, 3)).isEqualTo(5);
            }
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
