package dev.rackcall.rpc.shm.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.rpc.contract.Library.Page;
import dev.rackcall.shm.Arena;
import dev.rackcall.shm.ArenaTable;
import dev.rackcall.shm.Ref;
import dev.rackcall.shm.types.SharedObject;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Scopes of results at the server: each is closed exactly once, as soon as it is known to be unused. */
class ReplyScopeTest {
    private static final long QUOTA = 1 << 20;
    private static final long TICKET = 7;

    private final SharedPool pool = new SharedPool("/test/replies", 1, QUOTA);
    private final Arena arena = pool.arena();
    private final ReplyScopes replies = new ReplyScopes(arena, table(arena));
    private final List<Long> refs = new ArrayList<>();
    private final long before = arena.usedBytes();

    private static ArenaTable table(Arena arena) {
        ArenaTable table = ArenaTable.create();
        table.add(arena);
        return table;
    }

    @AfterEach
    void close() {
        pool.close();
    }

    /** A scope from which that many objects were returned. */
    private ReplyScopes.ReplyScope reply(int objects) {
        ReplyScopes.ReplyScope reply = replies.open();
        for (int i = 0; i < objects; i++) {
            refs.add(SharedObject.refOf(reply.scope().create(Page.class)));
            reply.returned();
        }
        assertThat(arena.usedBytes()).isGreaterThan(before);
        return reply;
    }

    private void assertFreed() {
        assertThat(arena.usedBytes()).isEqualTo(before);
    }

    @Test
    void shouldGoWhenAnyOfItsObjectsIsReleased() {
        ReplyScopes.ReplyScope reply = reply(2);
        // A part of the result, which was not returned by itself.
        long part = SharedObject.refOf(reply.scope().create(Page.class));
        replies.handOver(reply, TICKET, () -> false);
        replies.release(Ref.NULL);
        replies.release(part + arena.quota());
        assertThat(arena.usedBytes())
                .as("after the release of what is no object of it")
                .isGreaterThan(before);
        replies.release(part);
        assertFreed();
        replies.release(part);
        refs.forEach(replies::release);
        replies.discard(TICKET);
        assertFreed();
    }

    /** Its memory may serve another result by the time the second release arrives. */
    @Test
    void shouldStayWhenAnEarlierResultInItsMemoryIsReleasedAgain() {
        replies.handOver(reply(1), TICKET, () -> false);
        replies.release(refs.getFirst());
        replies.handOver(reply(1), TICKET + 1, () -> false);
        replies.release(refs.getFirst());
        assertThat(arena.usedBytes()).isGreaterThan(before);
        replies.release(refs.getLast());
        assertFreed();
    }

    @Test
    void shouldGoWhenItsCallerNeverSawTheAnswer() {
        replies.handOver(reply(1), TICKET, () -> false);
        replies.discard(TICKET + 1);
        assertThat(arena.usedBytes()).isGreaterThan(before);
        replies.discard(TICKET);
        assertFreed();
    }

    /** The cancellation came just before, and found nothing to close. */
    @Test
    void shouldGoIfItsCallWasCancelledJustBeforeItIsHandedOver() {
        replies.handOver(reply(1), TICKET, () -> true);
        assertFreed();
    }

    @Test
    void shouldGoIfNothingWasReturnedFromIt() {
        replies.handOver(reply(0), TICKET, () -> false);
        assertFreed();
    }
}
