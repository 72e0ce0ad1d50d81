package dev.rackcall.rpc.call;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.rpc.Dispatch;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.contract.Echo;
import dev.rackcall.rpc.contract.EchoService;
import dev.rackcall.rpc.contract.Library;
import dev.rackcall.rpc.contract.LibraryService;
import dev.rackcall.rpc.contract.RpcFixture;
import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.Usage;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Servers that start and clients that connect release everything: descriptors, mappings, threads, locks, files. The
 * property {@code rackcall.connects} is the number of connections, 250 by default.
 */
class AccountingTest extends RpcFixture {
    private static final int CONNECTS = Integer.getInteger("rackcall.connects", 250);
    private static final int AT_ONCE = 100;
    private static final int STARTS = CONNECTS / 5;

    private RpcServer.Builder server() {
        return serving(Echo.class, new EchoService()).service(Library.class, new LibraryService());
    }

    /** One client's life, with every kind of call that takes memory. */
    private void visit(int visitor) {
        if (visitor % 2 == 0) {
            try (RpcChannel channel = channel(Library.class).open()) {
                Library library = channel.stub(Library.class);
                Library.Book book = library.write("visit", 1);
                assertThat(library.texts(LibraryService.fill(channel.newSharedScope(), "mine", 1)))
                        .containsExactly("mine 0");
                assertThat(book.title()).isEqualTo("visit");
            }
            return;
        }
        try (RpcChannel channel = channel(Echo.class).open()) {
            Echo echo = channel.stub(Echo.class);
            CompletableFuture<Integer> unanswered = echo.later(1, 20);
            try (Stream<Integer> stream = echo.count(0, 1_000)) {
                assertThat(stream.findFirst()).contains(0);
            }
            assertThat(echo.add(1, 2)).isEqualTo(3);
            assertThat(unanswered).isNotNull();
        }
    }

    @Test
    void shouldKeepNothingOfClientsThatCameAndWent() {
        try (RpcServer server = server().start()) {
            for (int i = 0; i < AT_ONCE; i++) {
                visit(i);
            }
            Await.equal("connections", 0, server::connections);
            Map<String, Integer> before = Usage.now();
            for (int i = 0; i < CONNECTS - AT_ONCE; i++) {
                visit(i);
            }
            List<RpcChannel> together = new ArrayList<>();
            for (int i = 0; i < AT_ONCE; i++) {
                together.add(channel(Echo.class).open());
            }
            assertThat(server.connections()).isGreaterThanOrEqualTo(AT_ONCE);
            together.forEach(RpcChannel::close);
            Await.equal("connections", 0, server::connections);
            Await.equal("what is left", Map.of(), () -> Usage.grownSince(before));
        }
        assertThat(directory.toFile().list()).isNullOrEmpty();
    }

    @Test
    void shouldKeepNothingOfServersThatWereClosed() {
        startAndStop(0);
        Map<String, Integer> before = Usage.now();
        for (int i = 0; i < STARTS; i++) {
            startAndStop(i);
        }
        Await.equal("what is left", Map.of(), () -> Usage.grownSince(before));
        assertThat(directory.toFile().list()).isNullOrEmpty();
    }

    private void startAndStop(int number) {
        Dispatch dispatch = switch (number % 3) {
            case 0 -> Dispatch.direct();
            case 1 -> Dispatch.workers(2);
            default -> Dispatch.virtualThreads();
        };
        try (RpcServer server =
                        server().dispatch(dispatch).pollers(1 + number % 2).start();
                RpcChannel channel = channel(Echo.class).open()) {
            assertThat(channel.stub(Echo.class).add(number, 1)).isEqualTo(number + 1L);
            if (number % 4 == 0) {
                // The server first.
                server.close();
            }
        }
    }
}
