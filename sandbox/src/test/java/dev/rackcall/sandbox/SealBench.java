package dev.rackcall.sandbox;

import dev.rackcall.shm.Arena;
import dev.rackcall.shm.ArenaSpec;
import dev.rackcall.shm.TableHome;
import dev.rackcall.shm.os.file.Mapping;
import dev.rackcall.shm.os.file.SharedFile;
import java.lang.foreign.MemorySegment;

/** An arena with both sides of its seals, the receiver's with a mapping of its own. */
final class SealBench implements AutoCloseable {
    static final int ARENA_ID = 7;

    private final SharedFile file;
    private final Mapping senders;
    private final Mapping receivers;
    final Arena arena;
    final Arena receiversArena;
    final MemorySegment ring;
    final MemorySegment marks;
    final Seals seals;
    final SealedScopes receiver;

    private SealBench(SharedFile file, SharedFile.Kind kind, int descriptors, int batch) {
        this.file = file;
        senders = file.map();
        receivers = file.map();
        arena = Arena.create(spec(senders.memory()));
        ring = java.lang.foreign.Arena.ofAuto().allocate(Seals.ringBytes(descriptors), 8);
        marks = java.lang.foreign.Arena.ofAuto().allocate(Seals.marksBytes(descriptors), 8);
        seals = Skip.unless(() -> Seals.cooperative(new SealSpec(arena, kind, file.pageBytes(), ring, marks, batch)));
        receiversArena = Arena.attach(spec(receivers.memory()));
        receiver = SealedScopes.of(receiversArena, ring, marks);
    }

    static SealBench of(long quota, int descriptors, int batch) {
        SharedFile file = SharedFile.memfd("seal-bench", quota);
        return new SealBench(file, file.kind(), descriptors, batch);
    }

    /** Sealed as device-dax memory is. */
    static SealBench byMprotect(long quota, int descriptors) {
        return new SealBench(
                SharedFile.memfd("seal-bench", quota), SharedFile.Kind.DAX, descriptors, SealSpec.DEFAULT_BATCH);
    }

    private ArenaSpec spec(MemorySegment memory) {
        return new ArenaSpec(ARENA_ID, memory, file, 0, TableHome.PRIVATE, 1, 64 << 10);
    }

    /** The arena as the receiver maps it. */
    MemorySegment received() {
        return receivers.memory();
    }

    @Override
    public void close() {
        seals.close();
        senders.close();
        receivers.close();
        file.close();
    }
}
