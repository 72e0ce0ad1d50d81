package dev.rackcall.shm;

import static dev.rackcall.testkit.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.rackcall.shm.alloc.PageEntry;
import dev.rackcall.shm.os.ByteSize;
import dev.rackcall.shm.os.file.Mapping;
import dev.rackcall.shm.os.file.SharedFile;
import dev.rackcall.testkit.Thrown;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class ArenaTest {
    private static final long QUOTA = 8 << 20;
    private static final int ME = 1;
    private static final int OTHER = 2;

    private final SharedFile file = SharedFile.memfd("arena-test", QUOTA);
    private final Mapping mapping = file.map();

    private Arena create(TableHome home) {
        return Arena.create(new ArenaSpec(7, mapping.memory(), file, 0, home, ME, 64 << 10));
    }

    private Arena attach(int participant) {
        return Arena.attach(new ArenaSpec(7, mapping.memory(), file, 0, TableHome.SHARED, participant, 0));
    }

    @AfterEach
    void close() {
        mapping.close();
        file.close();
    }

    @ParameterizedTest
    @EnumSource(TableHome.class)
    void shouldGrowUpToItsQuotaAndThenSaySo(TableHome home) {
        Arena arena = create(home);
        assertThat(arena.reservedBytes()).isLessThan(256 << 10);
        Scope scope = arena.newScope();

        assertThrown(
                OutOfArenaException.class,
                () -> {
                    while (true) {
                        scope.allocate(100_000);
                    }
                },
                "arena 7 (8 MiB) is full",
                "close scopes, or raise its quota");
        scope.close();
        assertThat(arena.usedBytes()).isZero();
    }

    @ParameterizedTest
    @EnumSource(TableHome.class)
    void shouldNotFollowRefsIntoClosedOrResetScopes(TableHome home) {
        Arena arena = create(home);
        ArenaTable table = ArenaTable.create();
        table.add(arena);
        Scope scope = arena.newScope();
        long first = scope.allocate(24);
        assertThat(table.memory(first)).isSameAs(arena.memory());

        scope.reset();
        assertThrown(RefException.class, () -> table.memory(first), "closed or reset");
        long second = scope.allocate(24);
        scope.close();
        assertThatThrownBy(() -> table.memory(second)).isInstanceOf(RefException.class);
        try (Scope reuse = arena.newScope()) {
            long third = reuse.allocate(24);
            assertThat(Ref.offset(third)).isEqualTo(Ref.offset(second));
            assertThatThrownBy(() -> table.memory(second)).isInstanceOf(RefException.class);
        }
    }

    @Test
    void shouldTellPeersWithoutThePageTableWhichRefsAreStale() {
        Arena arena = create(TableHome.PRIVATE);
        ArenaTable peer = ArenaTable.create();
        peer.add(Arena.attach(new ArenaSpec(7, mapping.memory(), file, 0, TableHome.PRIVATE, OTHER, 0)));
        Scope scope = arena.newScope();
        long first = scope.allocate(24);
        // The last page of a long run has the same generation as the first.
        long deep = scope.allocate(300_000) + 299_992;
        assertLeadsToTheReadOnlyArena(peer, first, arena);
        assertLeadsToTheReadOnlyArena(peer, deep, arena);

        scope.reset();
        assertStale(peer, first);
        assertStale(peer, deep);
        long second = scope.allocate(24);
        assertLeadsToTheReadOnlyArena(peer, second, arena);
        scope.close();
        assertStale(peer, second);
        try (Scope reuse = arena.newScope(400_000)) {
            long third = reuse.allocate(350_000);
            assertLeadsToTheReadOnlyArena(peer, third + 349_992, arena);
            assertStale(peer, first);
            assertStale(peer, second);
            assertStale(peer, deep);
        }
    }

    /** A peer that may not allocate in an arena only reads it. */
    private static void assertLeadsToTheReadOnlyArena(RefSpace space, long ref, Arena arena) {
        MemorySegment found = space.memory(ref);
        assertThat(found.isReadOnly()).isTrue();
        assertThat(found.address()).isEqualTo(arena.memory().address());
        assertThat(found.byteSize()).isEqualTo(arena.memory().byteSize());
    }

    private static void assertStale(RefSpace space, long ref) {
        assertThrown(RefException.class, () -> space.memory(ref), "closed or reset");
    }

    @Test
    void shouldLeaveItToTheReaderToNoticeThatAPeersMemoryIsUnmapped() {
        Arena arena = create(TableHome.PRIVATE);
        long ref = arena.newScope().allocate(24);
        Mapping gone = file.map();
        Arena peer = Arena.attach(new ArenaSpec(7, gone.memory(), file, 0, TableHome.PRIVATE, OTHER, 0));
        assertThat(peer.complaint(ref)).isNull();
        gone.close();
        assertThat(peer.complaint(ref)).isNull();
    }

    @Test
    void shouldBelieveItsOwnTableAndNotWhatAPeerWritesIntoTheGenerations() {
        Arena arena = create(TableHome.PRIVATE);
        ArenaTable mine = ArenaTable.create();
        mine.add(arena);
        Scope scope = arena.newScope();
        long ref = scope.allocate(24);
        long said = Arena.generationAt(Ref.offset(ref));

        mapping.memory().set(ValueLayout.JAVA_BYTE, said, (byte) (Ref.generation(ref) + 1));
        assertThat(mine.memory(ref)).isSameAs(arena.memory());
        scope.close();
        mapping.memory().set(ValueLayout.JAVA_BYTE, said, (byte) Ref.generation(ref));
        assertStale(mine, ref);
    }

    @Test
    void shouldSayTheSameOfAllRefsAsItsPageTable() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        Arena arena = create(TableHome.PRIVATE);
        Arena peer = Arena.attach(new ArenaSpec(7, mapping.memory(), file, 0, TableHome.PRIVATE, OTHER, 0));
        List<Long> refs = new ArrayList<>();
        List<Scope> open = new ArrayList<>();
        for (int step = 0; step < 2_000; step++) {
            if (open.size() < 12 && random.nextBoolean()) {
                open.add(arena.newScope());
            } else if (!open.isEmpty()) {
                Scope scope = open.get(random.nextInt(open.size()));
                switch (random.nextInt(4)) {
                    case 0 -> {
                        scope.close();
                        open.remove(scope);
                    }
                    case 1 -> scope.reset();
                    default -> refs.add(scope.allocate(8 + random.nextInt(random.nextBoolean() ? 100 : 60_000)));
                }
            }
        }
        // At least one Ref leads somewhere.
        refs.add(arena.newScope().allocate(8));
        int stale = 0;
        for (long ref : refs) {
            String mine = arena.complaint(ref);
            stale += mine == null ? 0 : 1;
            // The table knows that memory is free; the peer only knows that the Ref is older.
            assertThat(peer.complaint(ref) == null)
                    .as("seed %d: %s, %s", seed, Ref.describe(ref), mine)
                    .isEqualTo(mine == null);
        }
        assertThat(stale).isBetween(1, refs.size() - 1);
    }

    @Test
    void shouldRefuseRefsThatLeadNowhere() {
        ArenaTable table = ArenaTable.create();
        Arena arena = create(TableHome.SHARED);
        table.add(arena);
        assertThatThrownBy(() -> table.memory(Ref.NULL)).hasMessageContaining("is null");
        assertThatThrownBy(() -> table.memory(Ref.of(9, 0, 8192))).hasMessageContaining("not mapped here");
        assertThatThrownBy(() -> table.memory(Ref.of(7, 0, 16))).hasMessageContaining("outside");
        assertThatThrownBy(() -> table.memory(Ref.of(7, 0, QUOTA))).hasMessageContaining("outside");
        assertThatThrownBy(() -> table.memory(Ref.of(7, 0, QUOTA - 4096))).hasMessageContaining("outside");
        assertThatThrownBy(() -> table.memory(Ref.of(7, 0, arena.reservedBytes() - 4096)))
                .hasMessageContaining("not allocated");
        assertThatThrownBy(() -> table.memory(Ref.of(7, 0, arena.reservedBytes() - 4)))
                .hasMessageContaining("outside");
    }

    @Test
    void shouldRefuseAScopeInOtherThreadsAndAfterItsEnd() throws InterruptedException {
        Arena arena = create(TableHome.PRIVATE);
        Scope scope = arena.newScope();
        AtomicReference<Throwable> thrown = new AtomicReference<>();
        Thread thread = new Thread(() -> {
            try {
                scope.allocate(8);
            } catch (ScopeException e) {
                thrown.set(e);
            }
        });
        thread.start();
        thread.join();
        assertThat(thrown.get()).hasMessageContaining("one scope per thread");
        scope.close();
        scope.close();
        assertThrown(ScopeException.class, () -> scope.allocate(8), "after it was closed");
    }

    @Test
    void shouldZeroWhatItHandsOutAgain() {
        Arena arena = create(TableHome.PRIVATE);
        for (int round = 0; round < 3; round++) {
            try (Scope scope = arena.newScope()) {
                for (int size : new int[] {8, 24, 500, 9000}) {
                    long offset = Ref.offset(scope.allocate(size));
                    assertThat(offset % 8).isZero();
                    for (long at = offset; at < offset + size; at++) {
                        assertThat(arena.memory().get(ValueLayout.JAVA_BYTE, at))
                                .isZero();
                    }
                    arena.memory().asSlice(offset, size).fill((byte) 0x5a);
                }
            }
        }
    }

    /** Memory is zeroed some way ahead of the objects, and a reset goes back behind that. */
    @Test
    void shouldZeroWhatItHandsOutAfterAReset() {
        Arena arena = create(TableHome.PRIVATE);
        try (Scope scope = arena.newScope()) {
            for (int round = 0; round < 3; round++) {
                for (long held = 0; held < Arena.PAGE_BYTES; held += 40) {
                    MemorySegment object = arena.memory().asSlice(Ref.offset(scope.allocate(40)), 40);
                    assertThat(object.toArray(ValueLayout.JAVA_BYTE)).containsOnly(0);
                    object.fill((byte) 0x5a);
                }
                scope.reset();
            }
        }
    }

    @Test
    void shouldReclaimOnlyWhatTheDeadHad() {
        Arena mine = create(TableHome.SHARED);
        Arena theirs = attach(OTHER);
        Scope kept = mine.newScope();
        Scope adopted = theirs.newScope();
        long object = adopted.allocate(50_000);
        Scope lost = theirs.newScope();
        long gone = lost.allocate(50_000);
        Scope taken = mine.adopt(object, OTHER);

        assertThat(mine.reclaim(OTHER)).isPositive();
        assertThat(mine.reclaim(OTHER)).isZero();
        ArenaTable table = ArenaTable.create();
        table.add(mine);
        assertThat(table.memory(object)).isNotNull();
        assertThatThrownBy(() -> table.memory(gone)).isInstanceOf(RefException.class);
        adopted.close();
        assertThat(table.memory(object)).isNotNull();
        taken.close();
        kept.close();
        assertThat(mine.usedBytes()).isZero();
    }

    @Test
    void shouldNotAdoptTwiceOrFromAnotherOwner() {
        Arena mine = create(TableHome.SHARED);
        Arena theirs = attach(OTHER);
        long object = theirs.newScope().allocate(8);
        assertThatThrownBy(() -> mine.adopt(object, 3)).isInstanceOf(RefException.class);
        try (Scope adopted = mine.adopt(object, OTHER)) {
            assertThat(adopted.isOpen()).isFalse();
            assertThatThrownBy(() -> mine.adopt(object, OTHER)).isInstanceOf(RefException.class);
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {3, QUOTA, (9L << 40) + (1 << 16), -1L >>> 16})
    void shouldGiveBackWhatItAdoptedOfABrokenScope(long next) {
        Arena mine = create(TableHome.SHARED);
        Arena theirs = attach(OTHER);
        long object = theirs.newScope().allocate(8);
        RunLayout.next(mine.memory(), Ref.offset(object) & -4096L, (7L << 48) | next, 0);

        assertThatThrownBy(() -> mine.adopt(object, OTHER)).isInstanceOf(RefException.class);
        assertThat(mine.usedBytes()).isZero();
    }

    /**
     * The new owner closed the scope long ago, and its former owner got the same page with the same generation for
     * something else.
     */
    @Test
    void shouldNotFreeALaterRunWhenAScopeThatWasTakenOverIsClosed() {
        Arena mine = create(TableHome.SHARED);
        Arena theirs = attach(OTHER);
        Scope passed = mine.newScope();
        long object = passed.allocate(8);
        long first = mine.scopeOf(object);
        theirs.adopt(object, mine.participant()).close();
        assertThat(mine.reclaim(OTHER)).isPositive();

        long run = mine.allocateRun(mine.runBytes(first));
        for (int uses = 0; run != first; uses++) {
            assertThat(uses).isLessThan(1_000);
            if (Ref.offset(run) == Ref.offset(first)) {
                assertThat(mine.freeRun(run)).isTrue();
            }
            run = mine.allocateRun(ArenaLayout.PAGE);
        }
        passed.close();
        assertThat(mine.freeRun(run)).as("still there").isTrue();
    }

    /**
     * As if the link to a run was written long ago, and its memory was reused as often as there are generations since.
     */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldLeaveItsOwnerWhatIsNoRunOfTheScope(boolean asFirst) {
        Arena mine = create(TableHome.SHARED);
        Arena theirs = attach(OTHER);
        Scope another = theirs.newScope();
        another.allocate(100);
        long run = another.firstRun();
        int epoch = theirs.handed().epochOf(run);
        Scope scope = theirs.newScope();
        long object = scope.allocate(8);
        long first = scope.firstRun();
        if (asFirst) {
            RunLayout.initialise(mine.memory(), first, theirs.handed().epochOf(first), run, epoch + 1);
        } else {
            RunLayout.next(mine.memory(), Ref.offset(first), run, epoch + 1);
        }

        assertThrown(RefException.class, () -> mine.adopt(object, OTHER), "does not belong to the scope");
        another.allocate(100);
        another.close();
        assertThat(mine.usedBytes()).isEqualTo(asFirst ? mine.runBytes(first) : 0);
    }

    /** The header of an earlier scope says nothing about the present owner of its pages. */
    @Test
    void shouldNotAdoptMemoryWithTheHeaderOfAnEarlierScope() {
        Arena mine = create(TableHome.SHARED);
        Arena theirs = attach(OTHER);
        Scope scope = theirs.newScope();
        scope.allocate(8);
        long first = scope.firstRun();
        long bytes = scope.bytesHeld();
        scope.close();
        long run = theirs.allocateRun(bytes);
        assertThat(Ref.offset(run)).isEqualTo(Ref.offset(first));

        assertThrown(RefException.class, () -> mine.adopt(run + RunLayout.BYTES, OTHER), "no header of this use");
        assertThat(theirs.freeRun(run)).isTrue();
    }

    /** It is the same run with the same Refs; only this process can tell which of its scopes owns it. */
    @Test
    void shouldNotFreeWhatHasComeBackToAnotherScope() {
        Arena mine = create(TableHome.SHARED);
        Arena theirs = attach(OTHER);
        Scope passed = mine.newScope();
        long object = passed.allocate(50_000);
        theirs.adopt(object, mine.participant());
        Scope back = mine.adopt(object, OTHER);

        assertThrown(ScopeException.class, passed::reset, "no run of that scope");
        passed.close();
        assertThat(mine.complaint(object)).as("still there").isNull();
        back.close();
        assertThat(mine.complaint(object)).isNotNull();
        assertThat(mine.usedBytes()).isZero();
    }

    @ParameterizedTest
    @EnumSource(TableHome.class)
    void shouldResetMoreOftenThanThereAreGenerations(TableHome home) {
        Arena arena = create(home);
        try (Scope scope = arena.newScope(9_000)) {
            long bytes = scope.bytesHeld();
            long before = scope.allocate(8);
            for (int i = 0; i < 1_000; i++) {
                scope.reset();
                long now = scope.allocate(8);
                assertThat(now).isNotEqualTo(before);
                assertThat(arena.complaint(before)).isNotNull();
                assertThat(arena.complaint(now)).isNull();
                assertThat(scope.bytesHeld()).isEqualTo(bytes);
                assertThat(Ref.generation(now)).isLessThan(PageEntry.LAST_GENERATION);
                before = now;
            }
        }
        assertThat(arena.usedBytes()).isZero();
    }

    @Test
    void shouldRefuseToAdoptWhatLiesOutside() {
        Arena mine = create(TableHome.SHARED);
        for (long offset : new long[] {0, 8, QUOTA - 8, QUOTA, Ref.MAX_OFFSET}) {
            assertThatThrownBy(() -> mine.adopt(Ref.of(7, 0, offset), OTHER)).isInstanceOf(RefException.class);
        }
    }

    @Test
    void shouldTrustNoHeaderWhereItIsTheOnlyAllocator() {
        Arena arena = create(TableHome.PRIVATE);
        long reserved = arena.reservedBytes();
        ArenaLayout.publishReserved(arena.memory(), QUOTA);
        assertThat(arena.reservedBytes()).isEqualTo(reserved);
        ArenaLayout.publishReserved(arena.memory(), -1);
        try (Scope scope = arena.newScope(reserved)) {
            assertThat(arena.reservedBytes()).isGreaterThan(reserved);
            assertThat(arena.memory().get(ValueLayout.JAVA_BYTE, Ref.offset(scope.allocate(8))))
                    .isZero();
        }
    }

    @Test
    void shouldUseWhatIsLeftWhenItCannotDouble() {
        Arena arena = create(TableHome.PRIVATE);
        Scope large = arena.newScope(QUOTA / 2 + (1 << 20));
        Scope scope = arena.newScope(QUOTA / 8);
        assertThrown(
                OutOfArenaException.class,
                () -> {
                    while (true) {
                        scope.allocate(1 << 10);
                    }
                },
                "0 bytes free");
        assertThat(large.bytesHeld() + scope.bytesHeld()).isEqualTo(QUOTA - ArenaLayout.PAGE);
    }

    @Test
    void shouldRefuseASizeThatHasNoRoom() {
        assertThrown(
                IllegalArgumentException.class,
                () -> new ArenaSpec(7, mapping.memory().asSlice(0, 4096), file, 0, TableHome.PRIVATE, 1, 0),
                "at least 16384 bytes");
        assertThrown(OutOfArenaException.class, () -> create(TableHome.PRIVATE).allocateRun(2 * QUOTA), "16 MiB asked");
    }

    @ParameterizedTest
    @EnumSource(TableHome.class)
    void shouldNeverHandOutAPageTwice(TableHome home) {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        Arena arena = create(home);
        Deque<Long> held = new ArrayDeque<>();
        Set<Long> pages = new HashSet<>();
        for (int step = 0; step < 20_000; step++) {
            if (held.size() < 40 && random.nextInt(3) > 0) {
                long run = arena.allocateRun(1 + random.nextInt(random.nextBoolean() ? 9_000 : 200_000));
                for (long page = 0; page < arena.runBytes(run); page += 4096) {
                    assertThat(pages.add(Ref.offset(run) + page))
                            .as("seed %d", seed)
                            .isTrue();
                }
                held.add(run);
            } else if (!held.isEmpty()) {
                long run = random.nextBoolean() ? held.pollFirst() : held.pollLast();
                for (long page = 0; page < arena.runBytes(run); page += 4096) {
                    pages.remove(Ref.offset(run) + page);
                }
                assertThat(arena.freeRun(run)).isTrue();
                assertThat(arena.freeRun(run))
                        .as("a second free, seed %d", seed)
                        .isFalse();
            }
        }
        held.forEach(arena::freeRun);
        assertThat(arena.usedBytes()).isZero();
    }

    @Test
    void shouldNotJoinWhatIsNoArena() {
        assertThrown(RefException.class, () -> attach(OTHER), "no arena header");
    }

    @Test
    void shouldNameSizeAndQuotaWhenASizeIsImpossible() {
        Arena arena = create(TableHome.PRIVATE);
        for (long bytes : new long[] {Long.MAX_VALUE, Long.MAX_VALUE - 6, Long.MAX_VALUE - 4096, 1L << 40, QUOTA + 1}) {
            String asked = ByteSize.describe(bytes) + " asked";
            assertFull(() -> arena.allocateRun(bytes), asked);
            assertFull(() -> arena.newScope(bytes), asked);
            try (Scope scope = arena.newScope()) {
                long before = scope.allocate(8);
                assertFull(() -> scope.allocate(bytes), asked);
                assertThat(Ref.offset(scope.allocate(8))).isEqualTo(Ref.offset(before) + 8);
            }
        }
        assertThat(arena.usedBytes()).isZero();
    }

    private static void assertFull(Thrown.Call action, String asked) {
        assertThrown(OutOfArenaException.class, action, "arena 7", "(8 MiB)", asked);
    }

    @Test
    void shouldRefuseNegativeSizes() {
        Arena arena = create(TableHome.PRIVATE);
        for (long bytes : new long[] {-1, -4096, Long.MIN_VALUE}) {
            assertThatThrownBy(() -> arena.allocateRun(bytes)).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> arena.newScope(bytes)).isInstanceOf(IllegalArgumentException.class);
            try (Scope scope = arena.newScope()) {
                assertThatThrownBy(() -> scope.allocate(bytes)).isInstanceOf(IllegalArgumentException.class);
            }
        }
        assertThat(arena.usedBytes()).isZero();
    }

    @Test
    void shouldFindMemoryThatOthersHaveFreedButKeepForThemselves() {
        Arena mine = create(TableHome.SHARED);
        Deque<Long> theirs = new ArrayDeque<>();
        for (int participant = OTHER; participant < OTHER + 12; participant++) {
            Arena other = attach(participant);
            for (int i = 0; i < 4; i++) {
                theirs.add(other.allocateRun(40_000));
            }
            while (!theirs.isEmpty()) {
                other.freeRun(theirs.poll());
            }
        }
        long pages = mine.quota() - ArenaLayout.firstPage(TableHome.SHARED, QUOTA);
        assertThat(mine.freeRun(mine.allocateRun(pages))).isTrue();
        assertThat(mine.usedBytes()).isZero();
    }

    @Test
    void shouldRefuseASecondArenaWithTheSameId() {
        ArenaTable table = ArenaTable.create();
        table.add(create(TableHome.SHARED));
        assertThrown(IllegalArgumentException.class, () -> table.add(attach(OTHER)), "already leads to arena 7");
    }

    @Test
    void shouldRefuseWhatTheOffsetOfARefCannotReach() {
        MemorySegment tooLong = MemorySegment.NULL.reinterpret((1L << 40) + 4096);
        assertThrown(
                IllegalArgumentException.class,
                () -> new ArenaSpec(7, tooLong, file, 0, TableHome.PRIVATE, ME, 0),
                "at most 1 TiB");
    }

    @Test
    void shouldNotUseAScopeThatAnotherParticipantHas() {
        Arena mine = create(TableHome.SHARED);
        Arena theirs = attach(OTHER);
        Scope scope = mine.newScope();
        List<String> heard = new ArrayList<>();
        scope.onEnd(new ScopeEndTest.Recording(heard));
        try (Scope taken = theirs.adopt(scope.allocate(8), ME)) {
            assertThatThrownBy(scope::reset).isInstanceOf(ScopeException.class).hasMessageContaining("any more");
            assertThatThrownBy(() -> scope.allocate(8)).hasMessageContaining("taken over");
            scope.close();
            assertThat(heard).containsExactly("resets", "ends");
            assertThat(mine.usedBytes()).isEqualTo(taken.bytesHeld());
        }
        assertThat(mine.usedBytes()).isZero();
    }

    @Test
    void shouldNotTakeOverItsOwn() {
        Arena arena = create(TableHome.SHARED);
        try (Scope scope = arena.newScope()) {
            long object = scope.allocate(8);
            assertThrown(RefException.class, () -> arena.adopt(object, ME), "that is this process");
        }
    }

    @Test
    void shouldRefuseAPlaceThatIsNotInItsFile() {
        MemorySegment region = mapping.memory();
        for (long offset : new long[] {4096, -4096, Long.MAX_VALUE & -4096}) {
            assertThrown(
                    IllegalArgumentException.class,
                    () -> new ArenaSpec(7, region, file, offset, TableHome.SHARED, ME, 0),
                    "does not lie in");
        }
        assertThatThrownBy(() -> new ArenaSpec(7, region, file, 0, TableHome.SHARED, ME, -1))
                .hasMessageContaining("cannot start with -1 bytes");
        ArenaSpec all = new ArenaSpec(7, region, file, 0, TableHome.SHARED, ME, Long.MAX_VALUE);
        assertThat(Arena.create(all).reservedBytes()).isEqualTo(QUOTA);
    }

    /**
     * A scope doubles its runs. A run longer than a table entry can hold would overflow into the entry's generation.
     */
    @Test
    void shouldAskForNoRunThatIsLongerThanAnEntryCanSay() {
        for (long bytes : new long[] {63L << 30, 64L << 30, 128L << 30, 2L << 40}) {
            long head = PageEntry.head(ME, 5, 6, GrowingPages.lengthFor(bytes));
            assertThat(PageEntry.generation(head)).as("%d bytes", bytes).isEqualTo(6);
            assertThat(PageEntry.length(head)).as("%d bytes", bytes).isEqualTo((int)
                    Math.min(bytes / 4096, PageEntry.MAX_LENGTH));
        }
    }

    /** A change of the layout needs a change of the page that describes it. */
    @Test
    void shouldHaveTheVersionThatTheLayoutPageNames() throws IOException {
        assertThat(Files.readString(Path.of("..", "docs", "internals", "arena-layout.md")))
                .containsPattern("\n## Arena \\((?:(?!\n## )[^|]|\\|(?! layout version))*\\| layout version \\("
                        + ArenaLayout.VERSION + "\\) \\|");
    }
}
