package dev.rackcall.rpc.shm.mirror;

import static dev.rackcall.rpc.contract.RpcFixture.assertFails;
import static dev.rackcall.testkit.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.rackcall.rpc.Status;
import dev.rackcall.shm.Arena;
import dev.rackcall.shm.ArenaSpec;
import dev.rackcall.shm.ArenaTable;
import dev.rackcall.shm.Ref;
import dev.rackcall.shm.RefException;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.TableHome;
import dev.rackcall.shm.os.file.Mapping;
import dev.rackcall.shm.os.file.SharedFile;
import dev.rackcall.shm.types.SharedBytes;
import dev.rackcall.shm.types.SharedObject;
import dev.rackcall.testkit.Concurrently;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * What the home of a channel's shared scopes hands out, and to which nodes. It sees the nodes' memory as if each
 * store were pushed at once.
 */
class NodeScopesTest {
    private static final long BYTES = 1 << 20;
    private static final int HOME = 3;
    private static final int ONE = 7;
    private static final int OTHER = 8;

    private final List<AutoCloseable> open = new ArrayList<>();
    private final Memory homes = new Memory();
    private final Memory ones = new Memory();
    private final Memory others = new Memory();

    private final ChannelScopes channel = new ChannelScopes(homes.arena(HOME, TableHome.SHARED));
    private final Arena written = ones.arena(ONE, TableHome.PRIVATE);
    private final List<Long> toldOne = new ArrayList<>();
    private final List<Long> toldOther = new ArrayList<>();
    private final NodeScopes one = channel.join(ones.mirror(ONE), toldOne::add);
    private final NodeScopes other = channel.join(others.mirror(OTHER), toldOther::add);

    private final class Memory {
        private final SharedFile file = SharedFile.memfd("rackcall-node", BYTES);
        private final Mapping mapping = file.map();

        Memory() {
            file.reserve(0, BYTES);
            open.add(mapping);
            open.add(file);
        }

        private ArenaSpec spec(int id, TableHome home) {
            return new ArenaSpec(id, mapping.memory(), file, 0, home, 1, 64 << 10);
        }

        Arena arena(int id, TableHome home) {
            return Arena.create(spec(id, home));
        }

        Arena mirror(int id) {
            return Arena.attach(spec(id, TableHome.PRIVATE));
        }
    }

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable each : open) {
            each.close();
        }
    }

    private static long bytes(Scope scope, int count, int value) {
        byte[] bytes = new byte[count];
        Arrays.fill(bytes, (byte) value);
        return SharedObject.refOf(SharedBytes.copyOf(scope, bytes));
    }

    private Scope shared() {
        Scope scope = written.newScope();
        one.share(scope.firstRun());
        return scope;
    }

    private void assertRefused(long ref) {
        assertThatThrownBy(() -> channel.copy(ref, 8, other)).isInstanceOf(RefException.class);
        assertThrown(
                RefException.class,
                () -> channel.space(ArenaTable.create(), other).window(ref));
    }

    @Test
    void shouldHandOutWhatIsOpenUpToTheEndOfItsRun() {
        Scope scope = shared();
        long ref = bytes(scope, 100, 42);
        one.passed();
        byte[] found = channel.copy(ref, 1 << 16, other);
        assertThat(found).hasSize(8 + 104);
        assertThat(Arrays.copyOfRange(found, 8, 108)).containsOnly(42);
        assertThat(channel.copy(ref, 10, other)).hasSize(10);
        assertThat(channel.arenaBytes(ref)).isEqualTo(BYTES);
        // What was allocated since the node last passed something is not published yet.
        long later = bytes(scope, 8, 1);
        assertRefused(later);
        one.passed();
        assertThat(channel.copy(later, 16, other)).hasSize(16);
    }

    /** One thread has taken the mark that something is new, and has not published it when another asks for it. */
    @Test
    void shouldFindWhatWasPassedWhileAnotherThreadIsLooking() throws Exception {
        // So that looking takes its time.
        for (int i = 0; i < NodeScopes.MOST - 100; i++) {
            one.share(Ref.of(ONE, 100 + i % 100, (BYTES / 2 & -4096) + i / 100 * 4096L));
        }
        Concurrently.run(2, thread -> {
            for (int round = 0; round < 1_000; round++) {
                try (Scope scope = shared()) {
                    long ref = bytes(scope, 8, 1);
                    one.passed();
                    // As a handler would, which asks for it some time after the call came.
                    for (int spins = round % 64 * 16; spins > 0; spins--) {
                        Thread.onSpinWait();
                    }
                    assertThat(one.holds(ref)).as("round %d", round).isTrue();
                    one.unshare(scope.firstRun());
                }
            }
        });
    }

    @Test
    void shouldRefuseWhatIsNotOpen() {
        Scope secret = written.newScope();
        long ref = bytes(secret, 8, 1);
        Scope scope = shared();
        long shared = bytes(scope, 8, 2);
        one.passed();
        assertRefused(ref);
        assertRefused(Ref.of(ONE, Ref.generation(shared) + 1, Ref.offset(shared)));
        assertRefused(Ref.of(ONE, 0, BYTES + 4096));
        assertRefused(Ref.of(ONE, 0, 0));
        assertRefused(Ref.of(99, 0, Ref.offset(shared)));
        assertRefused(Ref.of(OTHER, 0, Ref.offset(shared)));
        assertThat(channel.copy(shared, 8, other)).hasSize(8);
    }

    @Test
    void shouldEndWhatItsNodeEndsAndTellOnceTheNodesThatHaveFetched() {
        Scope scope = shared();
        long ref = bytes(scope, 8, 1);
        Scope second = shared();
        long stays = bytes(second, 8, 2);
        one.passed();
        channel.copy(ref, 8, other);
        // A node cannot end another's scope.
        other.unshare(scope.firstRun());
        channel.copy(ref, 8, other);
        one.unshare(scope.firstRun());
        one.unshare(scope.firstRun());
        assertThat(toldOther).containsExactly((long) ONE);
        assertThat(toldOne).isEmpty();
        assertRefused(ref);
        assertThat(channel.copy(stays, 16, other)).hasSize(16);
        one.end();
        assertThat(toldOther).containsExactly((long) ONE, NodeScopes.GONE | ONE);
        assertRefused(stays);
    }

    /** What a node was told before it may have read since: it hears that the other has gone all the same. */
    @Test
    void shouldTellEachNodeThatHasEverFetchedFromAnotherThatItHasGone() {
        Scope scope = shared();
        long ref = bytes(scope, 8, 1);
        one.passed();
        channel.copy(ref, 8, other);
        one.unshare(scope.firstRun());
        toldOther.clear();
        one.end();
        one.end();
        assertThat(toldOther).containsExactly(NodeScopes.GONE | ONE);
        assertThat(toldOne).isEmpty();
    }

    @Test
    void shouldTellNothingToANodeThatHasGone() {
        Scope scope = shared();
        long ref = bytes(scope, 8, 1);
        one.passed();
        channel.copy(ref, 8, other);
        other.end();
        one.end();
        assertThat(toldOther).isEmpty();
    }

    @Test
    void shouldNotTakeForANewScopeWhatAnEarlierOneLeftInItsMemory() {
        Scope scope = written.newScope();
        long firstRun = scope.firstRun();
        long secret = bytes(scope, 64, 1);
        // The same pages of the next generation, of which nothing has come yet.
        long next = Ref.of(ONE, Ref.generation(firstRun) + 1, Ref.offset(firstRun));
        one.share(next);
        one.passed();
        assertRefused(Ref.of(ONE, Ref.generation(next), Ref.offset(secret)));
        assertRefused(secret);
    }

    @Test
    void shouldRefuseScopesThatAreNotTheNodesAndTooManyOfThem() {
        long firstRun = written.newScope().firstRun();
        for (long wrong : new long[] {
            Ref.of(OTHER, 0, Ref.offset(firstRun)),
            Ref.of(HOME, 0, Ref.offset(firstRun)),
            firstRun + 8,
            Ref.of(ONE, 0, 0),
            Ref.of(ONE, 0, BYTES),
            0,
            -1
        }) {
            assertFails(Status.Code.INVALID_ARGUMENT, () -> one.share(wrong));
        }
        for (int i = 0; i < NodeScopes.MOST; i++) {
            one.share(Ref.of(ONE, i & 0xff, 4096L * (1 + i / 256)));
        }
        assertFails(Status.Code.RESOURCE_EXHAUSTED, () -> one.share(Ref.of(ONE, 0, 4096 * 200)));
    }

    @Test
    void shouldKeepToItsBoundsWhateverANodeWrites() {
        Scope damaged = shared();
        long broken = bytes(damaged, 8, 1);
        Scope scope = shared();
        long whole = bytes(scope, 8, 2);
        long run = Ref.offset(damaged.firstRun());
        for (long used : new long[] {-1, 0, Long.MAX_VALUE, BYTES + 1}) {
            ones.mapping.memory().set(ValueLayout.JAVA_LONG, run + 16, used);
            one.passed();
            assertRefused(broken);
            assertThat(channel.copy(whole, 16, other)).hasSize(16);
        }
        ones.mapping.memory().set(ValueLayout.JAVA_LONG, run + 16, 4096);
        for (long next : new long[] {damaged.firstRun(), Ref.of(OTHER, 0, 4096), Ref.of(ONE, 0, BYTES), -1}) {
            ones.mapping.memory().set(ValueLayout.JAVA_LONG, run + 8, next);
            one.passed();
            assertRefused(broken);
            assertThat(channel.copy(whole, 16, other)).hasSize(16);
        }
    }

    @Test
    void shouldLookAtABoundedNumberOfRunsWhateverANodeWrites() {
        Scope scope = shared();
        long whole = bytes(scope, 8, 2);
        one.passed();
        assertThat(channel.copy(whole, 16, other)).hasSize(16);
        // Scopes that go round and round: each is walked to the end of what a chain may be.
        for (int i = 0; i < 100; i++) {
            Scope damaged = shared();
            bytes(damaged, 8, 1);
            ones.mapping.memory().set(ValueLayout.JAVA_LONG, Ref.offset(damaged.firstRun()) + 8, damaged.firstRun());
        }
        Scope last = shared();
        long behind = bytes(last, 8, 3);
        one.passed();
        // What came first is found; what is behind so much damage is not looked for.
        assertThat(channel.copy(whole, 16, other)).hasSize(16);
        assertRefused(behind);
    }

    @Test
    void shouldHandOutWhatTheServerHasAdoptedUntilItIsClosed() {
        Scope scope = shared();
        SharedBytes argument = SharedBytes.copyOf(scope, new byte[] {1, 2, 3});
        Scope adopted = channel.adopt(argument, "test");
        long ref = SharedObject.refOf(argument);
        assertThat(Ref.arenaId(ref)).isEqualTo(HOME);
        one.unshare(scope.firstRun());
        assertThat(Arrays.copyOfRange(channel.copy(ref, 100, other), 8, 11)).containsExactly(1, 2, 3);
        adopted.close();
        assertThat(toldOther).containsExactly((long) HOME);
        assertThatThrownBy(() -> channel.copy(ref, 8, other)).isInstanceOf(RefException.class);
    }
}
