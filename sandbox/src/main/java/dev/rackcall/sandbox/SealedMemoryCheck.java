package dev.rackcall.sandbox;

import dev.rackcall.sandbox.os.ProcessMemory;
import dev.rackcall.sandbox.os.ProcessMemory.FileMapping;
import dev.rackcall.sandbox.os.Userfault;
import dev.rackcall.shm.os.file.Mapping;
import dev.rackcall.shm.os.file.SharedFile;
import java.io.IOException;

/** Checks that no process has a visible means to write memory that is to be sealed. SECURITY.md names what a holder
 * cannot see. */
final class SealedMemoryCheck {
    private final int pid;
    private final SealedArea area;
    private final ProcessMemory process;
    /** Set by {@link #requireFit}. */
    private FileMapping sealed;

    private long fileOffset;

    SealedMemoryCheck(int pid, SealedArea area) {
        this.pid = pid;
        this.area = area;
        this.process = ProcessMemory.of(pid);
    }

    /** Where the arena begins in its file. */
    long fileOffset() {
        return fileOffset;
    }

    /**
     * Checks for obstacles before the process gives up anything.
     *
     * @throws IOException if the process has another means to write the memory, or the memory is not the arena's
     */
    void requireFit(SharedFile arena, Userfault userfault) throws IOException {
        if (process.hasUserfault()) {
            throw new IOException("the process still has a userfaultfd");
        }
        sealed = process.mappingAt(area.address(), area.bytes());
        fileOffset = sealed.offset() + (area.address() - sealed.start());
        requireOnlyMapping(arena);
        userfault.protect(area.address(), area.pageBytes());
        boolean closed = process.isWriteProtected(area.address());
        userfault.unprotect(area.address(), area.pageBytes());
        if (!closed) {
            throw new IOException("the userfaultfd does not close the process's own pages");
        }
    }

    /**
     * Checks that the process has given up all means to lift seals.
     *
     * @throws IOException if the process can visibly lift seals
     */
    void requireLockedDown() throws IOException {
        if (!process.isFiltered()) {
            throw new IOException("a thread of the process is not locked down");
        }
        if (!process.isFixed(area.address())) {
            throw new IOException("the mapping could be changed, or inherited by a child");
        }
    }

    private void requireOnlyMapping(SharedFile arena) throws IOException {
        try (Mapping mine = arena.mapReadOnly()) {
            FileMapping expected = ProcessMemory.of(
                            (int) ProcessHandle.current().pid())
                    .mappingAt(mine.memory().address(), mine.memory().byteSize());
            if (!sealed.isOfFile(expected)) {
                throw new IOException("the memory that is to be sealed is not the arena's");
            }
        }
        for (FileMapping other : process.fileMappings()) {
            // Also a read-only one, because it could be made writable.
            if (other.isSharedPartOf(sealed, fileOffset, area.bytes()) && other.start() != sealed.start()) {
                throw new IOException("the process has another mapping of the arena, by which it could write");
            }
        }
    }

    /** Checks that no third process mapped the arena before writers were shut out. */
    void requireNoOther(int receiver) throws IOException {
        int own = (int) ProcessHandle.current().pid();
        for (int other : ProcessMemory.processes()) {
            if (other == receiver || other == own || other == pid) {
                continue;
            }
            for (FileMapping mapping : ProcessMemory.of(other).visibleMappings()) {
                if (mapping.isSharedPartOf(sealed, fileOffset, area.bytes())) {
                    throw new IOException("process " + other + " maps the arena, too, and could write it");
                }
            }
        }
    }
}
