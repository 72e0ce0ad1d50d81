package dev.rackcall.shm;

import dev.rackcall.shm.alloc.PageEntry;
import dev.rackcall.shm.os.ByteSize;
import dev.rackcall.shm.os.file.SharedFile;
import java.lang.foreign.MemorySegment;

/**
 * Where an arena lies and how it is used.
 *
 * @param id 1 to 65535; part of every Ref into it
 * @param region the arena's whole memory: page-aligned, as long as the quota, and mapped as long as the arena is used
 * @param file the file that the region is mapped from; memory is reserved in it as the arena grows
 * @param fileOffset where the region starts in the file
 * @param home where the page table is
 * @param participant the number under which this process allocates, 1 to 4095
 * @param initialBytes bytes to reserve at the start; the rest is reserved on demand
 * @param advice what to do when the arena is full, for the message
 */
public record ArenaSpec(
        int id,
        MemorySegment region,
        SharedFile file,
        long fileOffset,
        TableHome home,
        int participant,
        long initialBytes,
        String advice) {
    public static final int MAX_ID = 0xffff;
    public static final int MAX_PARTICIPANT = PageEntry.MAX_OWNER;

    /** An arena whose user needs no advice of its own. */
    public ArenaSpec(
            int id,
            MemorySegment region,
            SharedFile file,
            long fileOffset,
            TableHome home,
            int participant,
            long initialBytes) {
        this(id, region, file, fileOffset, home, participant, initialBytes, "close scopes, or raise its quota");
    }

    public ArenaSpec {
        if (id < 1 || id > MAX_ID) {
            throw new IllegalArgumentException("arena id " + id + " is not in 1.." + MAX_ID);
        }
        if (participant < 1 || participant > MAX_PARTICIPANT) {
            throw new IllegalArgumentException("participant " + participant + " is not in 1.." + MAX_PARTICIPANT);
        }
        if (region.byteSize() < ArenaLayout.firstPage(home, region.byteSize()) + ArenaLayout.PAGE
                || region.byteSize() > Ref.MAX_OFFSET + 1) {
            throw new IllegalArgumentException("arena " + id + " has " + ByteSize.describe(region.byteSize())
                    + "; give it at least " + 4 * ArenaLayout.PAGE + " bytes and at most 1 TiB");
        }
        if (region.byteSize() % ArenaLayout.PAGE != 0 || fileOffset % ArenaLayout.PAGE != 0) {
            throw new IllegalArgumentException("arena " + id + " must start and end on pages of " + ArenaLayout.PAGE
                    + " bytes, not at " + fileOffset + " with " + region.byteSize() + " bytes");
        }
        if (fileOffset < 0 || fileOffset > file.bytes() - region.byteSize()) {
            throw new IllegalArgumentException("arena " + id + " of " + region.byteSize() + " bytes at " + fileOffset
                    + " does not lie in " + file);
        }
        if (initialBytes < 0) {
            throw new IllegalArgumentException("arena " + id + " cannot start with " + initialBytes + " bytes");
        }
    }
}
