package dev.rackcall.sandbox;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.rackcall.shm.Ref;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.SealedScopeException;
import dev.rackcall.shm.types.SharedLongArray;
import dev.rackcall.shm.types.SharedObject;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A store opens only its own pages of a large scope that stays sealed after its call. The next call closes them
 * again. */
class OpenedPagesTest {
    private static final String CALL = "call /shop/search.index";
    private static final long PAGE = 4096;
    private static final long PAGES = 400;

    private final SealBench bench = SealBench.of(8 << 20, 64, 1024);
    private final Seals seals = bench.seals;
    private final SealedScopes receiver = bench.receiver;
    private final Scope scope = bench.arena.newScope(PAGES * PAGE - 200);
    /** One in every tenth page. */
    private final List<Node> nodes = new ArrayList<>();

    OpenedPagesTest() {
        for (int i = 0; i < PAGES / 10; i++) {
            nodes.add(scope.create(Node.class));
            scope.allocate(10 * PAGE - 200);
        }
    }

    @AfterEach
    void close() {
        bench.close();
    }

    private void sealAndKeep() {
        long seal = seals.seal(scope, CALL);
        receiver.claim(seal);
        receiver.markDone(seal);
        seals.releaseWhenUsed(seal);
    }

    /** Opens the whole scope by a raw store behind the node. */
    private boolean isClosedAt(Node node) {
        try {
            Seals.guarded(() -> bench.arena.memory().set(JAVA_LONG, Ref.offset(SharedObject.refOf(node)) + 64, 1));
            return false;
        } catch (SealedScopeException e) {
            return true;
        }
    }

    @Test
    void shouldOpenOnlyThePageThatIsStoredTo() {
        sealAndKeep();

        nodes.get(3).value(5);

        assertThat(nodes.get(3).value()).isEqualTo(5);
        assertThat(scope.isSealed()).isTrue();
        assertThat(seals.kept()).isEqualTo(1);
        assertThat(isClosedAt(nodes.get(3))).isFalse();
        assertThat(isClosedAt(nodes.get(2))).isTrue();
        assertThat(scope.isSealed()).as("after a store past the flyweights").isFalse();
        assertThat(isClosedAt(nodes.get(1))).isFalse();
    }

    @Test
    void shouldCloseItAgainForTheNextCall() {
        for (int call = 0; call < 20; call++) {
            sealAndKeep();
            nodes.get(call).value(call);
            nodes.get(0).value(call);
            assertThat(scope.isSealed()).isTrue();
        }
        long seal = seals.seal(scope, "the last call");

        assertThat(isClosedAt(nodes.get(0))).isTrue();
        assertThat(isClosedAt(nodes.get(19))).isTrue();
        assertThatThrownBy(() -> nodes.get(0).value(99))
                .isInstanceOf(SealedScopeException.class)
                .hasMessageContaining("the last call");
        assertThat(receiver.claim(seal)).isEqualTo(scope.firstRun());
        receiver.verify(seal, scope.firstRun(), PAGE);
        assertThat(nodes.get(0).value()).isEqualTo(19);
        assertThat(receiver.markDone(seal)).isTrue();
        seals.release(seal);
        assertThat(isClosedAt(nodes.get(0))).isFalse();
        assertThat(isClosedAt(nodes.get(30))).isFalse();
    }

    @Test
    void shouldOpenAllOfItOnceManyPagesAreStoredTo() {
        sealAndKeep();
        for (int i = 0; i < 4; i++) {
            nodes.get(i).value(i);
            assertThat(scope.isSealed()).isTrue();
        }

        nodes.get(4).value(4);

        assertThat(scope.isSealed()).isFalse();
        assertThat(seals.kept()).isZero();
        assertThat(isClosedAt(nodes.get(20))).isFalse();
        sealAndKeep();
        nodes.get(5).value(5);
        assertThat(scope.isSealed()).as("with another seal").isTrue();
    }

    @Test
    void shouldOpenAllOfItOnceManyStoresHaveAsked() {
        sealAndKeep();
        int stores = 0;
        while (scope.isSealed()) {
            nodes.get(0).value(++stores);
            assertThat(stores).isLessThan(1000);
        }
        assertThat(stores).isGreaterThan(10);
        assertThat(nodes.get(0).value()).isEqualTo(stores);
        assertThat(isClosedAt(nodes.get(9))).isFalse();
    }

    @Test
    void shouldOpenAllOfItForAnObjectOfManyPages() {
        SharedLongArray array = SharedLongArray.create(scope, (int) (6 * PAGE / Long.BYTES));
        sealAndKeep();

        array.set(0, 1);

        assertThat(scope.isSealed()).isFalse();
    }

    @Test
    void shouldOpenBothPagesOfAnObjectThatLiesAcross() {
        SharedLongArray array = SharedLongArray.create(scope, (int) (PAGE / Long.BYTES));
        sealAndKeep();

        for (int i = 0; i < array.length(); i += 16) {
            array.set(i, i);
        }
        assertThat(scope.isSealed()).isTrue();
        assertThat(array.get(0)).isZero();
        assertThat(array.get(496)).isEqualTo(496);
    }

    /** As a server could write them into shared memory. */
    @Test
    void shouldOpenNoPageOfANeighbourForALengthThatIsWrong() {
        Scope neighbour = bench.arena.newScope(PAGES * PAGE - 200);
        Node beside = neighbour.create(Node.class);
        long last = Ref.offset(scope.firstRun()) + (PAGES - 1) * PAGE + 100;
        assertThat(Ref.offset(neighbour.firstRun()))
                .as("first page of the neighbour")
                .isEqualTo(last - 100 + PAGE);
        sealAndKeep();

        assertThat(scope.sealedByOr(() -> false).openForStore(Ref.of(Ref.arenaId(scope.firstRun()), 0, last), PAGE))
                .isTrue();

        assertThat(scope.isSealed()).as("open as a whole").isFalse();
        sealAndKeep();
        assertThat(isClosedAt(beside)).isFalse();
    }

    @Test
    void shouldFreeAScopeOfWhichAPageIsOpen() {
        sealAndKeep();
        nodes.get(0).value(1);
        long used = bench.arena.usedBytes();

        scope.close();

        assertThat(bench.arena.usedBytes()).isLessThan(used);
        assertThat(seals.kept()).isZero();
        Scope next = bench.arena.newScope(PAGES * PAGE - 200);
        Node node = next.create(Node.class);
        assertThat(isClosedAt(node)).isFalse();
    }
}
