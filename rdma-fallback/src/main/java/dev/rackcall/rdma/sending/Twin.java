package dev.rackcall.rdma.sending;

import dev.rackcall.shm.os.file.SharedFile;
import dev.rackcall.verbs.MemoryRegion;

/** A {@link Shadow} of a connection's memory that the device may send from. With the lock of the {@link Sending} that has it, but for its making. */
final class Twin implements Shadow.Pieces {
    private final MemoryRegion region;
    private final Shadow shadow;
    private final Outflow out;
    private final Requests requests;

    /** Both ends begin with memory that is all zero, as a new file is. Errors are those of {@link ConnectionMemory#own}. */
    Twin(ConnectionMemory memory, Outflow out, Requests requests) {
        this.out = out;
        this.requests = requests;
        MemoryRegion original = memory.region();
        try (SharedFile file = SharedFile.memfd("rackcall-shadow", original.byteSize())) {
            region = memory.own(file);
        }
        shadow = Shadow.of(original.memory(), region.memory());
    }

    /** Adds what the peer lacks of these bytes; returns how many that were. */
    long carry(long offset, long length) {
        long start = offset & -Long.BYTES;
        long room = region.byteSize() - start;
        return shadow.update(start, Math.min(length + (offset - start), room), this);
    }

    @Override
    public void add(long offset, long length) {
        // A peer that is gone is noticed by whoever looks for changes.
        if (out.isAlive() && !requests.carry(region, offset, length)) {
            assert !out.isAlive();
        }
    }
}
