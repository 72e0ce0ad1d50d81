package dev.rackcall.perf;

import dev.rackcall.rpc.Isolation;
import dev.rackcall.sandbox.ArgumentSpace;
import dev.rackcall.sandbox.SnapshotBudget;
import dev.rackcall.sandbox.SnapshotMemory;
import dev.rackcall.shm.Arena;
import dev.rackcall.shm.ArenaSpec;
import dev.rackcall.shm.ArenaTable;
import dev.rackcall.shm.Ref;
import dev.rackcall.shm.RefSpace;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.TableHome;
import dev.rackcall.shm.os.file.Mapping;
import dev.rackcall.shm.os.file.SharedFile;
import dev.rackcall.shm.types.SharedObject;
import dev.rackcall.shm.types.SharedType;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** What the target {@code isolation} measures: calls in each mode over scopes of some sizes, and what they are made of. */
final class IsolationSubjects {
    static final int[] PAGES = {1, 16, 256, 1024, 4096};
    private static final int[] ENFORCED_PAGES = {1, 16, 256, 1024};
    /** Of what takes about as long as reading the clock. */
    static final int REPETITIONS = 1000;

    private static final int NODES = 100_000;
    /** 8 MiB. */
    private static final int LARGE = 2048;

    private static final List<Isolation> MODES =
            List.of(Isolation.TRUSTED, Isolation.SNAPSHOT, Isolation.SEALED, Isolation.AUTO);

    private IsolationSubjects() {}

    static List<Subject> all() {
        List<Subject> all = new ArrayList<>();
        for (int pages : PAGES) {
            MODES.forEach(mode -> all.add(new IsolationSubject(mode, pages, IsolationSubject.Use.TOUCH)));
            all.add(new LocalSubject(
                    "memcpy-" + pages,
                    Integer.toString(pages),
                    "trusted-" + pages,
                    pages * IsolationSubject.PAGE,
                    1,
                    "a copy of " + pages + " pages between warm buffers of one process",
                    () -> copying(pages)));
        }
        MODES.forEach(mode -> all.add(new IsolationSubject(mode, 1, IsolationSubject.Use.READ)));
        for (int pages : PAGES) {
            MODES.forEach(mode -> all.add(new IsolationSubject(mode, pages, IsolationSubject.Use.WRITE)));
        }
        for (IsolationSubject.Use use : List.of(IsolationSubject.Use.TOUCH, IsolationSubject.Use.WRITE)) {
            MODES.forEach(mode -> all.add(IsolationSubject.onHugePages(mode, LARGE, use)));
        }
        for (IsolationSubject.Use use : List.of(IsolationSubject.Use.TOUCH, IsolationSubject.Use.WRITE)) {
            for (int pages : ENFORCED_PAGES) {
                all.add(IsolationSubject.enforced(pages, use));
            }
        }
        SealSubjects.addTo(all, PAGES);
        all.add(new LocalSubject(
                "sandbox-bounds",
                "sandbox",
                "",
                IsolationSubject.PAGE,
                REPETITIONS,
                "entering and leaving the sandbox of a scope of one page",
                IsolationSubjects::fencing));
        for (Walk walk : Walk.values()) {
            all.add(new LocalSubject(
                    "walk-" + walk.name().toLowerCase(Locale.ROOT) + "-" + NODES,
                    "walk",
                    "walk-outside-" + NODES,
                    NODES * 24,
                    1,
                    "following a list of " + NODES + " nodes, " + walk.where,
                    () -> walking(walk)));
        }
        for (NeighbourSubject.Neighbour neighbour : NeighbourSubject.Neighbour.values()) {
            all.add(new NeighbourSubject(neighbour));
        }
        return all;
    }

    /** Where a list is walked. */
    private enum Walk {
        OUTSIDE("in its arena"),
        SANDBOX("in a sandbox around its scope"),
        SNAPSHOT("in a snapshot of its scope");

        private final String where;

        Walk(String where) {
            this.where = where;
        }
    }

    private static ClientSide walking(Walk walk) {
        SharedFile file = SharedFile.memfd("bench-walk", 64 << 20);
        Mapping mapping = file.map();
        Arena arena = Arena.create(new ArenaSpec(1, mapping.memory(), file, 0, TableHome.PRIVATE, 1, 64 << 10));
        // As a server sees it: the arena's table is the client's.
        Arena peers = Arena.attach(new ArenaSpec(1, mapping.memory(), file, 0, TableHome.PRIVATE, 1, 0));
        Scope scope = arena.newScope();
        BenchLink head = null;
        for (int i = 0; i < NODES; i++) {
            BenchLink node = scope.create(BenchLink.class);
            node.value(i);
            node.next(head == null ? Ref.nullRef() : SharedObject.toRef(head));
            head = node;
        }
        long first = SharedObject.toRef(head).bits();
        SharedType<BenchLink> type = SharedType.of(BenchLink.class);
        RefSpace space = space(walk, peers, arena.scopeOf(first));
        BenchLink node = type.flyweight();
        return local(
                sequence -> {
                    type.move(node, space, first);
                    long sum = node.value();
                    while (node.next(node)) {
                        sum += node.value();
                    }
                    if (sum != (long) NODES * (NODES - 1) / 2) {
                        throw new WrongReplyException("walk", (long) NODES * (NODES - 1) / 2, sum);
                    }
                },
                () -> {
                    mapping.close();
                    file.close();
                });
    }

    private static RefSpace space(Walk walk, Arena arena, long firstRun) {
        if (walk == Walk.OUTSIDE) {
            ArenaTable table = ArenaTable.create();
            table.add(arena);
            return table;
        }
        ArgumentSpace space = new ArgumentSpace(
                ArenaTable.create(), new SnapshotMemory(64 << 20, 0), SnapshotBudget.UNLIMITED, Long.MAX_VALUE);
        if (walk == Walk.SANDBOX) {
            space.fence(arena, firstRun);
        } else {
            space.snapshot(arena, firstRun);
        }
        return space;
    }

    private static ClientSide copying(int pages) {
        long bytes = (long) pages * IsolationSubject.PAGE;
        MemorySegment from = java.lang.foreign.Arena.global().allocate(bytes, IsolationSubject.PAGE);
        MemorySegment to = java.lang.foreign.Arena.global().allocate(bytes, IsolationSubject.PAGE);
        return local(sequence -> MemorySegment.copy(from, 0, to, 0, bytes), () -> {});
    }

    private static ClientSide fencing() {
        SharedFile file = SharedFile.memfd("bench-sandbox", 1 << 20);
        Mapping mapping = file.map();
        Arena arena = Arena.create(new ArenaSpec(1, mapping.memory(), file, 0, TableHome.PRIVATE, 1, 64 << 10));
        Scope scope = arena.newScope();
        long first = arena.scopeOf(scope.allocate(Long.BYTES));
        ArgumentSpace space = new ArgumentSpace(
                ArenaTable.create(), new SnapshotMemory(1 << 20, 0), SnapshotBudget.UNLIMITED, Long.MAX_VALUE);
        return local(
                sequence -> {
                    for (int i = 0; i < REPETITIONS; i++) {
                        space.fence(arena, first);
                        space.leave();
                    }
                },
                () -> {
                    mapping.close();
                    file.close();
                });
    }

    /** One step of a local measurement. */
    @FunctionalInterface
    interface Step {
        void run(long sequence);
    }

    static ClientSide local(Step step, Runnable end) {
        return new ClientSide() {
            @Override
            public void call(long sequence) {
                step.run(sequence);
            }

            @Override
            public void close() {
                end.run();
            }
        };
    }
}
