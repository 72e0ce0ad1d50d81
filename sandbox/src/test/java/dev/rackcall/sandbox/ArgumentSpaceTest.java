package dev.rackcall.sandbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.rackcall.shm.Arena;
import dev.rackcall.shm.ArenaSpec;
import dev.rackcall.shm.ArenaTable;
import dev.rackcall.shm.OutOfArenaException;
import dev.rackcall.shm.ReadOnlyObjectException;
import dev.rackcall.shm.Ref;
import dev.rackcall.shm.RefException;
import dev.rackcall.shm.RefSpace;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.ScopeRuns;
import dev.rackcall.shm.TableHome;
import dev.rackcall.shm.os.file.Mapping;
import dev.rackcall.shm.os.file.SharedFile;
import dev.rackcall.shm.types.SharedObject;
import dev.rackcall.shm.types.SharedString;
import dev.rackcall.shm.types.SharedType;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ArgumentSpaceTest {
    private static final long QUOTA = 8 << 20;
    private static final SharedType<Node> NODE = SharedType.of(Node.class);

    private final SharedFile file = SharedFile.memfd("argument-space-test", QUOTA);
    private final Mapping mapping = file.map();
    private final Arena sender =
            Arena.create(new ArenaSpec(7, mapping.memory(), file, 0, TableHome.PRIVATE, 1, 64 << 10));
    private final Arena receiver = Arena.attach(new ArenaSpec(7, mapping.memory(), file, 0, TableHome.PRIVATE, 1, 0));
    private final ArenaTable declared = ArenaTable.create();
    private final SnapshotMemory buffers = new SnapshotMemory(4 << 20, 1 << 20);
    private final ArgumentSpace space = new ArgumentSpace(declared, buffers, SnapshotBudget.UNLIMITED, Long.MAX_VALUE);

    @AfterEach
    void close() {
        mapping.close();
        file.close();
    }

    private void enter(boolean copied, long ref) {
        if (copied) {
            space.snapshot(receiver, sender.scopeOf(ref));
        } else {
            space.fence(receiver, sender.scopeOf(ref));
        }
    }

    private static long list(Scope scope, int nodes) {
        long head = Ref.NULL;
        for (int i = 0; i < nodes; i++) {
            Node node = scope.create(Node.class);
            node.value(i);
            node.next(new Ref<>(head));
            head = SharedObject.toRef(node).bits();
        }
        return head;
    }

    private static long sum(RefSpace space, long head) {
        Node node = NODE.flyweight();
        long sum = 0;
        long ref = head;
        while (NODE.move(node, space, ref)) {
            sum += node.value();
            ref = node.next().bits();
        }
        return sum;
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldFollowRefsThroughAllRunsOfAScope(boolean copied) {
        try (Scope scope = sender.newScope()) {
            long head = list(scope, 20_000);

            enter(copied, head);

            assertThat(sum(space, head)).isEqualTo(20_000L * 19_999 / 2);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldRefuseARefIntoAnotherScope(boolean copied) {
        try (Scope scope = sender.newScope();
                Scope other = sender.newScope()) {
            Node foreign = other.create(Node.class);
            Node node = scope.create(Node.class);
            node.next(SharedObject.toRef(foreign));

            enter(copied, SharedObject.toRef(node).bits());

            assertThatThrownBy(() -> sum(space, SharedObject.toRef(node).bits()))
                    .isInstanceOf(SandboxException.class)
                    .hasMessageContaining("leads neither into the scope of this call's arguments")
                    .hasMessageContaining("takes along one scope")
                    .hasMessageContaining("DeepCopy.DEFAULT.copy")
                    .message()
                    .doesNotContain("not mapped");
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldRefuseStoresThatAreNotAllowed(boolean copied) {
        try (Scope scope = sender.newScope()) {
            Node node = scope.create(Node.class);
            enter(copied, SharedObject.toRef(node).bits());

            Node read = NODE.attach(space, SharedObject.toRef(node).bits());

            assertThatThrownBy(() -> read.value(1))
                    .isInstanceOf(ReadOnlyObjectException.class)
                    .hasMessageContaining("may only be read");
            assertThat(read.value()).isZero();
            assertThat(node.value()).isZero();
        }
    }

    @Test
    void shouldStoreInPlaceWhereAllowed() {
        try (Scope scope = sender.newScope()) {
            Node node = scope.create(Node.class);
            space.fence(receiver, sender.scopeOf(SharedObject.toRef(node).bits()), ArgumentSpace.Stores.ALLOWED);

            NODE.attach(space, SharedObject.toRef(node).bits()).value(7);

            assertThat(node.value()).isEqualTo(7);
            assertThat(space.isWrittenCopy()).isFalse();
        }
    }

    @Test
    void shouldReportExactlyWhatWasStoredIntoACopy() {
        try (Scope scope = sender.newScope()) {
            // Of several runs.
            long head = list(scope, 20_000);
            space.snapshot(receiver, sender.scopeOf(head), ArgumentSpace.Stores.ALLOWED);
            Map<Long, Long> stored = new TreeMap<>();
            Node node = NODE.flyweight();
            long ref = head;
            for (int i = 0; NODE.move(node, space, ref); i++, ref = node.next().bits()) {
                if (i % 1000 == 0) {
                    node.value(node.value() + 1_000_000);
                    stored.put(ref, node.value());
                }
            }

            Map<Long, Long> reported = new TreeMap<>();
            space.changes((to, copy, at, length) -> {
                assertThat(length).isEqualTo(8);
                MemorySegment.copy(copy, at, sender.memory(), Ref.offset(to), length);
                reported.put(to, length);
            });

            assertThat(reported).hasSize(stored.size());
            stored.forEach((at, value) ->
                    assertThat(NODE.attach(scope.space(), at).value()).isEqualTo(value));
            assertThat(sum(scope.space(), head)).isEqualTo(20_000L * 19_999 / 2 + 20 * 1_000_000L);
            space.changes((to, copy, at, length) -> {
                throw new AssertionError("reported again: " + Ref.describe(to));
            });
        }
    }

    @Test
    void shouldFollowRefsIntoDeclaredArenas() {
        try (SharedFile otherFile = SharedFile.memfd("declared", QUOTA);
                Mapping otherMapping = otherFile.map()) {
            Arena other =
                    Arena.create(new ArenaSpec(8, otherMapping.memory(), otherFile, 0, TableHome.PRIVATE, 1, 64 << 10));
            try (Scope scope = sender.newScope();
                    Scope elsewhere = other.newScope()) {
                Node foreign = elsewhere.create(Node.class);
                foreign.value(42);
                Node node = scope.create(Node.class);
                node.next(SharedObject.toRef(foreign));
                enter(true, SharedObject.toRef(node).bits());
                assertThatThrownBy(() -> sum(space, SharedObject.toRef(node).bits()))
                        .isInstanceOf(SandboxException.class);

                declared.add(other);

                assertThat(sum(space, SharedObject.toRef(node).bits())).isEqualTo(42);
            }
        }
    }

    @Test
    void shouldKeepASnapshotWhateverTheSenderDoes() {
        Scope scope = sender.newScope();
        long head = list(scope, 1000);
        enter(true, head);
        MemorySegment everything = mapping.memory();
        everything.asSlice(4096, QUOTA - 4096).fill((byte) 0x55);

        assertThat(sum(space, head)).isEqualTo(1000L * 999 / 2);
    }

    @Test
    void shouldShowWhatTheSenderChangesInAFencedScope() {
        try (Scope scope = sender.newScope()) {
            Node node = scope.create(Node.class);
            enter(false, SharedObject.toRef(node).bits());
            node.value(5);

            assertThat(sum(space, SharedObject.toRef(node).bits())).isEqualTo(5);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldRefuseAnObjectThatSaysItEndsBehindTheScope(boolean copied) {
        try (Scope scope = sender.newScope()) {
            long string =
                    SharedObject.toRef(SharedString.create(scope, "short")).bits();
            MemorySegment header = mapping.memory();
            header.set(ValueLayout.JAVA_INT_UNALIGNED, Ref.offset(string) + Integer.BYTES, 2000);
            enter(copied, string);

            assertThatThrownBy(() -> SharedType.of(dev.rackcall.shm.types.SharedString.class)
                            .attach(space, string))
                    .isInstanceOf(RefException.class)
                    .hasMessageContaining("2000 bytes");
        }
    }

    @Test
    void shouldEndAWalkRoundACycleAtTheDeclaredBound() {
        ArgumentSpace bounded = new ArgumentSpace(declared, buffers, SnapshotBudget.UNLIMITED, 500);
        try (Scope scope = sender.newScope()) {
            Node node = scope.create(Node.class);
            node.next(SharedObject.toRef(node));
            long ref = SharedObject.toRef(node).bits();
            bounded.fence(receiver, sender.scopeOf(ref));

            assertThatThrownBy(() -> sum(bounded, ref))
                    .isInstanceOf(SandboxException.class)
                    .hasMessageContaining("more than 500 Refs");
            bounded.fence(receiver, sender.scopeOf(ref));
            assertThat(NODE.attach(bounded, ref).value()).isZero();
        }
    }

    @Test
    void shouldLeadNowhereOnceTheCallHasEnded() {
        try (Scope scope = sender.newScope()) {
            long ref = list(scope, 3);
            enter(true, ref);
            space.leave();

            assertThatThrownBy(() -> sum(space, ref)).isInstanceOf(SandboxException.class);
        }
    }

    @Test
    void shouldRefuseASnapshotLargerThanAllowed() {
        ArgumentSpace small = new ArgumentSpace(
                declared, new SnapshotMemory(1 << 20, 1 << 20), SnapshotBudget.UNLIMITED, Long.MAX_VALUE);
        try (Scope scope = sender.newScope()) {
            long ref = scope.allocate(2 << 20);

            assertThatThrownBy(() -> small.snapshot(receiver, sender.scopeOf(ref)))
                    .isInstanceOf(OutOfArenaException.class)
                    .hasMessageContaining("up to 1 MiB");
            assertThat(small.isEntered()).isFalse();
        }
    }

    @Test
    void shouldTakeNoMoreSnapshotsAtOnceThanTheirBudgetAllows() {
        AtomicLong left = new AtomicLong(5000);
        SnapshotBudget budget = new SnapshotBudget() {
            @Override
            public boolean take(long bytes) {
                return left.get() >= bytes && left.addAndGet(-bytes) >= 0;
            }

            @Override
            public void give(long bytes) {
                left.addAndGet(bytes);
            }
        };
        ArgumentSpace first = new ArgumentSpace(declared, buffers, budget, Long.MAX_VALUE);
        ArgumentSpace second = new ArgumentSpace(declared, buffers, budget, Long.MAX_VALUE);
        try (Scope scope = sender.newScope()) {
            long run = sender.scopeOf(scope.allocate(3000));
            first.snapshot(receiver, run);

            assertThatThrownBy(() -> second.snapshot(receiver, run))
                    .isInstanceOf(OutOfArenaException.class)
                    .hasMessageContaining("make fewer such calls at once");
            assertThat(second.isEntered()).isFalse();
            first.leave();
            second.snapshot(receiver, run);
            second.leave();
            first.fence(receiver, run);
            first.leave();
        }
        assertThat(left).hasValue(5000);
    }

    @Test
    void shouldReuseLargeBuffersInTurn() {
        ArgumentSpace second = new ArgumentSpace(declared, buffers, SnapshotBudget.UNLIMITED, Long.MAX_VALUE);
        try (Scope scope = sender.newScope()) {
            long head = list(scope, 20_000);
            enter(true, head);
            MemorySegment first = space.memory(head);
            space.leave();
            second.snapshot(receiver, sender.scopeOf(head));
            MemorySegment again = second.memory(head);
            ScopeRuns runs = new ScopeRuns();
            runs.read(receiver, sender.scopeOf(head));

            assertThat(again.address()).isEqualTo(first.address());
            assertThat(again.byteSize()).isGreaterThanOrEqualTo(runs.totalBytes());
        }
    }
}
