package dev.rackcall.sandbox;

import dev.rackcall.shm.Arena;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

/**
 * An arena as the sealed process maps it.
 *
 * @param arenaId the arena's id
 * @param address of its first byte in that process
 * @param bytes its size
 * @param pageBytes size of the pages that are closed and opened
 */
record SealedArea(int arenaId, long address, long bytes, long pageBytes) {
    static final int BYTES = 28;

    static SealedArea of(Arena arena, long pageBytes) {
        MemorySegment memory = arena.memory();
        return new SealedArea(arena.id(), memory.address(), memory.byteSize(), pageBytes);
    }

    /** @throws IOException if the fields cannot describe an arena */
    static SealedArea read(ByteBuffer fields) throws IOException {
        long address = fields.getLong();
        long bytes = fields.getLong();
        long pageBytes = fields.getLong();
        if (bytes <= 0
                || address < 0
                || address > Long.MAX_VALUE - bytes
                || Long.bitCount(pageBytes) != 1
                || pageBytes < 4096
                || address % pageBytes != 0
                || bytes % pageBytes != 0) {
            throw new IOException("an arena of " + bytes + " bytes at " + address + " cannot be sealed");
        }
        return new SealedArea(fields.getInt(), address, bytes, pageBytes);
    }

    void write(ByteBuffer fields) {
        fields.putLong(address).putLong(bytes).putLong(pageBytes).putInt(arenaId);
    }
}
