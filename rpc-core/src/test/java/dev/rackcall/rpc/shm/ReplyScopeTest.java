package dev.rackcall.rpc.shm;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.rpc.Dispatch;
import dev.rackcall.rpc.Echo;
import dev.rackcall.rpc.Isolation;
import dev.rackcall.rpc.Library.Page;
import dev.rackcall.rpc.Peer;
import dev.rackcall.rpc.SandboxPolicy;
import dev.rackcall.rpc.spi.ServerSpec;
import dev.rackcall.rpc.spi.ServiceDefinition;
import dev.rackcall.shm.Arena;
import dev.rackcall.shm.SharedObject;
import dev.rackcall.shm.os.UnixSocket;
import dev.rackcall.shm.waiting.WaitStrategy;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Scopes of results at the server: each is closed exactly once, by whoever hears first that nobody needs it. */
class ReplyScopeTest {
    private static final long QUOTA = 1 << 20;
    private static final long TICKET = 7;

    private final Deque<AutoCloseable> open = new ArrayDeque<>();
    private ServerLink link;
    private Arena arena;
    private long before;

    @BeforeEach
    void connect() {
        ServerSpec.Service<Echo> service =
                new ServerSpec.Service<>(ServiceDefinition.of(Echo.class), (method, call) -> {});
        ServerSpec spec = new ServerSpec(
                List.of(service),
                List.of(),
                Dispatch.direct(),
                WaitStrategy.adaptive(),
                1,
                Path.of("unused"),
                1,
                QUOTA,
                QUOTA,
                Isolation.TRUSTED,
                SandboxPolicy.STRICT,
                Duration.ofSeconds(1),
                Optional.empty(),
                Optional.empty(),
                Optional.empty());
        ConnectionFactory factory = new ConnectionFactory(
                spec, service, Handlers.of(spec.dispatch()), QUOTA, id -> new SharedPool("/test/replies", id, QUOTA));
        open.push(factory);
        UnixSocket.Pair sockets = UnixSocket.pair();
        open.push(sockets.right());
        ConnectionFactory.Offer offer = factory.prepare(
                sockets.left(),
                new Handshake.Hello(ControlLayout.VERSION, factory.channel(), 2, QUOTA),
                new Peer(0, 0, 0),
                new ConnectionCount());
        offer.close();
        open.push(offer.connection()::close);
        link = offer.connection().link;
        arena = link.replyArena();
        before = arena.usedBytes();
    }

    @AfterEach
    void close() throws Exception {
        while (!open.isEmpty()) {
            open.pop().close();
        }
    }

    /** A scope from which that many objects were returned. */
    private ReplyScope reply(int objects) {
        ReplyScope reply = link.newReplyScope();
        for (int i = 0; i < objects; i++) {
            reply.returned(SharedObject.refOf(reply.scope().create(Page.class)));
        }
        assertThat(arena.usedBytes()).isGreaterThan(before);
        return reply;
    }

    private void assertFreed() {
        assertThat(arena.usedBytes()).isEqualTo(before);
    }

    @Test
    void shouldGoWhenAnyOfItsObjectsIsReleased() {
        ReplyScope reply = reply(2);
        long second = reply.roots().getLast();
        link.handOver(reply, TICKET, () -> false);
        link.releaseReply(second + 8);
        assertThat(arena.usedBytes())
                .as("after the release of what was never returned")
                .isGreaterThan(before);
        link.releaseReply(second);
        assertFreed();
        link.releaseReply(second);
        link.releaseReply(reply.roots().getFirst());
        link.discardReply(TICKET);
        assertFreed();
    }

    @Test
    void shouldGoWhenItsCallerNeverSawTheAnswer() {
        link.handOver(reply(1), TICKET, () -> false);
        link.discardReply(TICKET + 1);
        assertThat(arena.usedBytes()).isGreaterThan(before);
        link.discardReply(TICKET);
        assertFreed();
    }

    /** Who cancelled just before has looked for it already, and found nothing. */
    @Test
    void shouldGoIfItsCallWasCancelledJustBeforeItIsHandedOver() {
        link.handOver(reply(1), TICKET, () -> true);
        assertFreed();
    }

    @Test
    void shouldGoIfNothingWasReturnedFromIt() {
        link.handOver(reply(0), TICKET, () -> false);
        assertFreed();
    }
}
