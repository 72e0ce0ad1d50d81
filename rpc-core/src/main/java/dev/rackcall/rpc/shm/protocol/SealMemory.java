package dev.rackcall.rpc.shm.protocol;

import dev.rackcall.rpc.spi.LimitedLog;
import dev.rackcall.sandbox.SealSpec;
import dev.rackcall.sandbox.SealedScopes;
import dev.rackcall.sandbox.Seals;
import dev.rackcall.sandbox.os.UnsupportedFeatureException;
import dev.rackcall.shm.Arena;
import dev.rackcall.shm.os.OsException;
import dev.rackcall.shm.os.file.SharedFile;
import java.lang.foreign.MemorySegment;
import java.util.Optional;

/** The part of a connection's memory that describes its seals. Either side reserves it at the first use. */
public record SealMemory(MemorySegment ring, MemorySegment marks) {
    private static final LimitedLog LOG = LimitedLog.of(SealMemory.class);

    /** Empty if the host has no memory for it. */
    public static Optional<SealMemory> open(SharedFile file, MemorySegment memory, int slots) {
        long ring = ControlLayout.sealRing(slots);
        long marks = ControlLayout.sealMarks(slots);
        long end = ControlLayout.controlBytes(slots);
        try {
            // Both sides reserve it, since neither may rely on the other for pages that it touches.
            file.reserve(ring, end - ring);
        } catch (OsException e) {
            tell("no memory for seals: ", e);
            return Optional.empty();
        }
        return Optional.of(new SealMemory(memory.asSlice(ring, marks - ring), memory.asSlice(marks, end - marks)));
    }

    /**
     * The client's side; empty if this host cannot seal.
     *
     * @param batch as in {@link SealSpec}
     */
    public Optional<Seals> sender(Arena arena, SharedFile file, int batch) {
        try {
            return Optional.of(
                    Seals.cooperative(SealSpec.of(arena, file, ring, marks).withBatch(batch)));
        } catch (UnsupportedFeatureException e) {
            tell("isolated calls are sent as snapshots: ", e);
            return Optional.empty();
        }
    }

    /** The server's side. */
    public SealedScopes receiver(Arena arena) {
        return SealedScopes.of(arena, ring, marks);
    }

    private static void tell(String what, RuntimeException why) {
        LOG.info("{}{}", what, why.getMessage());
    }
}
