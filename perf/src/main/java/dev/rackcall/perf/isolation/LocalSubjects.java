package dev.rackcall.perf.isolation;

import dev.rackcall.perf.harness.BenchArena;
import dev.rackcall.perf.harness.ClientSide;
import dev.rackcall.perf.harness.ServerSide;
import dev.rackcall.perf.harness.Sides;
import dev.rackcall.perf.harness.Subject;
import dev.rackcall.perf.harness.WrongReplyException;
import dev.rackcall.perf.result.BenchTarget;
import dev.rackcall.sandbox.ArgumentSpace;
import dev.rackcall.sandbox.SnapshotBudget;
import dev.rackcall.sandbox.SnapshotMemory;
import dev.rackcall.shm.Arena;
import dev.rackcall.shm.ArenaTable;
import dev.rackcall.shm.Ref;
import dev.rackcall.shm.RefSpace;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.types.SharedObject;
import dev.rackcall.shm.types.SharedType;
import java.io.Serializable;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;

/**
 * Operations of one process, measured beside calls to show what the calls are made of: copies, sandboxes, and walks
 * inside and outside them.
 */
final class LocalSubjects {
    /** For operations that take about as long as reading the clock. */
    static final int REPETITIONS = 1000;

    private static final int PAGE = IsolationCall.PAGE;
    private static final long RESERVED = 64 << 10;
    private static final int NODES = 100_000;

    private LocalSubjects() {}

    /** Sets up an operation; runs in the measured process. */
    @FunctionalInterface
    interface Setup extends Serializable {
        ClientSide prepare();
    }

    private record LocalSides(Setup setup) implements Sides {
        @Override
        public ServerSide serve(Path directory) {
            return () -> {};
        }

        @Override
        public ClientSide connect(Path directory) {
            return setup.prepare();
        }
    }

    /** A subject that is compared with nothing. */
    static Subject subject(String name, String group, int bytes, String settings, Setup setup) {
        return Subject.of(name, bytes, settings, new LocalSides(setup), Subject.Trait.SPINS, Subject.Trait.ONE_PROCESS)
                .in(BenchTarget.ISOLATION, group, "");
    }

    /** A copy beside the call that passes as many pages. */
    static Subject copying(int pages) {
        String settings = "a copy of " + pages + " pages between warm buffers of one process";
        return subject("memcpy-" + pages, Integer.toString(pages), pages * PAGE, settings, () -> copy(pages))
                .in(BenchTarget.ISOLATION, Integer.toString(pages), "trusted-" + pages);
    }

    static void addTo(List<Subject> all) {
        all.add(subject(
                        "sandbox-bounds",
                        "sandbox",
                        PAGE,
                        "entering and leaving the sandbox of a scope of one page",
                        LocalSubjects::fencing)
                .repeating(REPETITIONS));
        for (Walk walk : Walk.values()) {
            String name = "walk-" + walk.name().toLowerCase(Locale.ROOT) + "-" + NODES;
            String settings = "following a list of " + NODES + " nodes, " + walk.where;
            all.add(subject(name, "walk", NODES * 24, settings, () -> walking(walk))
                    .in(BenchTarget.ISOLATION, "walk", "walk-outside-" + NODES));
        }
    }

    private static ClientSide copy(int pages) {
        long bytes = (long) pages * PAGE;
        MemorySegment from = java.lang.foreign.Arena.global().allocate(bytes, PAGE);
        MemorySegment to = java.lang.foreign.Arena.global().allocate(bytes, PAGE);
        return ClientSide.of(sequence -> MemorySegment.copy(from, 0, to, 0, bytes), () -> {});
    }

    private static ArgumentSpace argumentSpace(long bytes) {
        return new ArgumentSpace(
                ArenaTable.create(), new SnapshotMemory(bytes, 0), SnapshotBudget.UNLIMITED, Long.MAX_VALUE);
    }

    private static ClientSide fencing() {
        BenchArena memory = new BenchArena(1 << 20, RESERVED);
        Scope scope = memory.arena().newScope();
        long first = memory.arena().scopeOf(scope.allocate(Long.BYTES));
        ArgumentSpace space = argumentSpace(1 << 20);
        return ClientSide.of(
                sequence -> {
                    for (int i = 0; i < REPETITIONS; i++) {
                        space.fence(memory.arena(), first);
                        space.leave();
                    }
                },
                memory::close);
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
        BenchArena memory = new BenchArena(64 << 20, RESERVED);
        // As a server sees it: the arena's table is the client's.
        Arena peers = memory.attach();
        Scope scope = memory.arena().newScope();
        BenchListNode head = null;
        for (int i = 0; i < NODES; i++) {
            BenchListNode node = scope.create(BenchListNode.class);
            node.value(i);
            node.next(head == null ? Ref.nullRef() : SharedObject.toRef(head));
            head = node;
        }
        long first = SharedObject.toRef(head).bits();
        SharedType<BenchListNode> type = SharedType.of(BenchListNode.class);
        RefSpace space = space(walk, peers, memory.arena().scopeOf(first));
        BenchListNode node = type.flyweight();
        return ClientSide.of(
                sequence -> {
                    type.move(node, space, first);
                    long sum = node.value();
                    while (node.next(node)) {
                        sum += node.value();
                    }
                    WrongReplyException.check("walk", (long) NODES * (NODES - 1) / 2, sum);
                },
                memory::close);
    }

    private static RefSpace space(Walk walk, Arena arena, long firstRun) {
        if (walk == Walk.OUTSIDE) {
            ArenaTable table = ArenaTable.create();
            table.add(arena);
            return table;
        }
        ArgumentSpace space = argumentSpace(64 << 20);
        if (walk == Walk.SANDBOX) {
            space.fence(arena, firstRun);
        } else {
            space.snapshot(arena, firstRun);
        }
        return space;
    }
}
