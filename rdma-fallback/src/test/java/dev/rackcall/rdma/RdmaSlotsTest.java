package dev.rackcall.rdma;

import static dev.rackcall.testkit.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.contract.Library.Page;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.types.SharedObject;
import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.Concurrently;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** The runtime's own requests find a slot even if calls occupy all of theirs. */
class RdmaSlotsTest extends ShelfNodes {
    private static final int SLOTS = 2;
    private static final int PAGES = 300;

    RdmaSlotsTest() {
        super("127.0.0.15", channel -> channel.slots(SLOTS));
    }

    /** As many calls as there are slots; the test decides when they are answered. */
    private static List<CompletableFuture<Page>> takeAll(Shelf stub) {
        List<CompletableFuture<Page>> under = new ArrayList<>();
        for (int i = 0; i < SLOTS; i++) {
            under.add(stub.later(-1));
        }
        return under;
    }

    @Test
    void shouldFollowRefsToAnothersObjectsWhileCallsHaveAllSlots() {
        try (Scope scope = writer.newSharedScope()) {
            written.put(1, chain(scope, PAGES, 0).getFirst());
            Page found = read.get(1);
            List<CompletableFuture<Page>> under = takeAll(read);
            assertThat(ShelfService.numbers(found, PAGES)).isEqualTo(numbers(0, PAGES));
            // The reserved slots serve no other calls.
            Shelf hasty = reader.stub(Shelf.class, within(Duration.ofMillis(50)));
            assertThat(codeOf(() -> hasty.get(1))).isIn(Status.Code.RESOURCE_EXHAUSTED, Status.Code.DEADLINE_EXCEEDED);
            failAll(under);
            assertThat(SharedObject.refOf(read.get(1))).isEqualTo(SharedObject.refOf(found));
        }
    }

    @Test
    void shouldOpenAndEndSharedScopesWhileCallsHaveAllSlots() {
        Scope scope = writer.newSharedScope();
        written.put(1, chain(scope, PAGES, 0).getFirst());
        Page found = read.get(1);
        List<CompletableFuture<Page>> under = takeAll(written);
        scope.close();
        Await.until("the reader has heard", () -> isGoneAtAll(found));
        writer.newSharedScope().close();
        failAll(under);
    }

    private void failAll(List<CompletableFuture<Page>> under) {
        assertThat(under).noneMatch(CompletableFuture::isDone);
        shelf.never.completeExceptionally(new IllegalStateException("the test ends it"));
        assertThat(under).allSatisfy(future -> assertThat(future).failsWithin(Duration.ofSeconds(30)));
    }

    /** Each thread keeps its call's slot while it asks for the object that its answer names. */
    @Test
    void shouldReadAnswersThatNameAnothersObjectsInMoreThreadsThanThereAreSlots() throws Exception {
        try (Scope scope = writer.newSharedScope()) {
            written.put(1, chain(scope, PAGES, 0).getFirst());
            Concurrently.run(4 * SLOTS, thread -> {
                for (int round = 0; round < 20; round++) {
                    assertThat(ShelfService.numbers(read.get(1), 10)).isEqualTo(numbers(0, 10));
                }
            });
        }
    }

    @Test
    void shouldRefuseNumbersOfSlotsByTheirName() {
        for (int slots : new int[] {1, 3, 4095}) {
            assertThrown(
                    RpcException.class, () -> channelTo(server).slots(slots).open(), slots + " slots asked");
        }
    }
}
