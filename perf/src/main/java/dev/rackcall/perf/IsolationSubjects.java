package dev.rackcall.perf;

import dev.rackcall.rpc.Isolation;
import dev.rackcall.sandbox.ArgumentSpace;
import dev.rackcall.sandbox.SnapshotMemory;
import dev.rackcall.shm.Arena;
import dev.rackcall.shm.ArenaSpec;
import dev.rackcall.shm.ArenaTable;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.TableHome;
import dev.rackcall.shm.os.Mapping;
import dev.rackcall.shm.os.SharedFile;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/** What the target {@code isolation} measures: calls in each mode over scopes of some sizes, and what they are made of. */
final class IsolationSubjects {
    private static final int[] PAGES = {1, 16, 256, 1024};
    /** Of what takes about as long as reading the clock. */
    static final int REPETITIONS = 1000;

    private static final List<Isolation> MODES =
            List.of(Isolation.TRUSTED, Isolation.SNAPSHOT, Isolation.SEALED, Isolation.AUTO);

    private IsolationSubjects() {}

    static List<Subject> all() {
        List<Subject> all = new ArrayList<>();
        for (int pages : PAGES) {
            MODES.forEach(mode -> all.add(new IsolationSubject(mode, pages, false)));
            all.add(new LocalSubject(
                    "memcpy-" + pages,
                    Integer.toString(pages),
                    pages * IsolationSubject.PAGE,
                    1,
                    "a copy of " + pages + " pages between warm buffers of one process",
                    () -> copying(pages)));
        }
        MODES.forEach(mode -> all.add(new IsolationSubject(mode, 1, true)));
        all.add(new LocalSubject(
                "sandbox-bounds",
                "sandbox",
                IsolationSubject.PAGE,
                REPETITIONS,
                "entering and leaving the sandbox of a scope of one page",
                IsolationSubjects::fencing));
        return all;
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
        ArgumentSpace space = new ArgumentSpace(ArenaTable.create(), new SnapshotMemory(1 << 20, 0), Long.MAX_VALUE);
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
