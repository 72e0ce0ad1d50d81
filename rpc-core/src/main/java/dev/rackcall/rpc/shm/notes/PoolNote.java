package dev.rackcall.rpc.shm.notes;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.rackcall.shm.os.file.Mapping;
import dev.rackcall.shm.os.file.ObservedFile;
import dev.rackcall.shm.os.file.SharedFile;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.Optional;

/**
 * Where a connection lies in a pool. Nothing else tells an observer: a descriptor of a pool names no connection. So each
 * end holds a small memfd with this note, named after the channel.
 *
 * @param isServer which end this process is
 * @param descriptor this process's descriptor of the pool's memory
 * @param place offset of the connection's memory in the pool
 * @param bytes its length
 */
public record PoolNote(boolean isServer, int descriptor, long place, long bytes) {
    /** How names of notes begin; the channel follows. */
    public static final String NAME = "rackcall-pool";

    private static final int NOTE_BYTES = 32;
    /** "RKWINDOW". */
    private static final long MAGIC = 0x574f444e49574b52L;

    private static final long IS_SERVER = 8;
    private static final long DESCRIPTOR = 12;
    private static final long PLACE = 16;
    private static final long LENGTH = 24;

    /**
     * Writes a note, which observers find until it is closed.
     *
     * @param window whose descriptor observers open; it should stay open as long as the note
     */
    public static SharedFile write(String channel, boolean isServer, SharedFile window, long place) {
        SharedFile note = SharedFile.memfd(NAME + channel, NOTE_BYTES);
        try (Mapping mapping = note.map()) {
            MemorySegment memory = mapping.memory();
            memory.set(JAVA_INT, IS_SERVER, isServer ? 1 : 0);
            memory.set(JAVA_INT, DESCRIPTOR, window.fd());
            memory.set(JAVA_LONG, PLACE, place);
            memory.set(JAVA_LONG, LENGTH, window.bytes());
            // Last: observers read by pread(2), and take a note without it as unwritten.
            JAVA_LONG.varHandle().setRelease(memory, 0L, MAGIC);
            return note;
        } catch (RuntimeException | Error e) {
            note.close();
            throw e;
        }
    }
    /**
     * Reads a note of another process, which may have written anything there.
     *
     * @param path of a process's descriptor, {@code /proc/PID/fd/N}
     * @return empty if it is not yet written
     */
    public static Optional<PoolNote> read(Path path) throws IOException {
        ObservedFile file = ObservedFile.open(path);
        try (Arena lifetime = Arena.ofConfined()) {
            MemorySegment note = lifetime.allocate(NOTE_BYTES, Long.BYTES);
            file.read(note.asByteBuffer(), 0);
            return note.get(JAVA_LONG, 0) != MAGIC
                    ? Optional.empty()
                    : Optional.of(new PoolNote(
                            note.get(JAVA_INT, IS_SERVER) == 1,
                            note.get(JAVA_INT, DESCRIPTOR),
                            note.get(JAVA_LONG, PLACE),
                            note.get(JAVA_LONG, LENGTH)));
        } finally {
            file.close();
        }
    }
}
