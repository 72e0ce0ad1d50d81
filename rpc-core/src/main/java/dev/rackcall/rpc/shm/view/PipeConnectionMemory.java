package dev.rackcall.rpc.shm.view;

import dev.rackcall.rpc.shm.notes.PipeNote;
import dev.rackcall.shm.os.file.ObservedFile;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * The memory of a gRPC connection between other processes. Its ends count their calls there for observers.
 *
 * <p>Close it soon after its processes have closed theirs, because it keeps the memory alive.
 */
public final class PipeConnectionMemory implements ObservedConnection {
    /** How often memory is read before it counts as invalid: it may change while it is copied. */
    private static final int ATTEMPTS = 5;

    /** Far more than any end allows. */
    private static final long MOST_IN_FLIGHT = 1 << 30;

    private final ObservedFile file;
    private final Arena lifetime = Arena.ofConfined();
    private final MemorySegment copy = lifetime.allocate(PipeNote.PAGE_BYTES, Long.BYTES);

    private PipeConnectionMemory(ObservedFile file) {
        this.file = file;
    }

    /**
     * Opens memory whose name says that it is a gRPC connection's.
     *
     * @param path of a process's descriptor, {@code /proc/PID/fd/N}
     * @return empty if no end has written to it yet
     * @throws InvalidMemoryException if it is something else
     * @throws IOException if it cannot be opened or read
     */
    public static Optional<PipeConnectionMemory> open(Path path) throws IOException, InvalidMemoryException {
        PipeConnectionMemory memory = new PipeConnectionMemory(ObservedFile.open(path));
        boolean wanted = false;
        try {
            wanted = memory.isWritten();
            return wanted ? Optional.of(memory) : Optional.empty();
        } finally {
            if (!wanted) {
                memory.close();
            }
        }
    }

    private boolean isWritten() throws IOException, InvalidMemoryException {
        if (file.bytes() < PipeNote.PAGE_BYTES) {
            throw new InvalidMemoryException("it has only " + file.bytes() + " bytes");
        }
        copyPage();
        if (!PipeNote.isAt(copy) && !PipeNote.isUnwritten(copy)) {
            throw new InvalidMemoryException(
                    "it is no gRPC connection's of this release; use the rackcall of the same release");
        }
        return PipeNote.isAt(copy);
    }

    private void copyPage() throws IOException {
        file.read(copy.asByteBuffer(), 0);
    }

    @Override
    public ConnectionReading read() throws IOException, InvalidMemoryException {
        for (int attempt = 1; ; attempt++) {
            try {
                copyPage();
                return reading();
            } catch (InvalidMemoryException e) {
                if (attempt == ATTEMPTS) {
                    throw e;
                }
            }
        }
    }

    private ConnectionReading reading() throws InvalidMemoryException {
        if (!PipeNote.isAt(copy)) {
            throw new InvalidMemoryException("its header was overwritten");
        }
        PipeNote.End server = PipeNote.read(copy, true);
        PipeNote.End client = PipeNote.read(copy, false);
        // Prefer the client's counts: they give the times that callers see.
        PipeNote.End counting = client.process().isKnown() ? client : server;
        long inFlight = counting.begun() - counting.ended();
        if (counting.begun() < 0 || counting.ended() < 0 || inFlight < 0 || inFlight > MOST_IN_FLIGHT) {
            throw new InvalidMemoryException(
                    "it counts " + counting.begun() + " calls begun and " + counting.ended() + " ended");
        }
        return new ConnectionReading(
                server.process(),
                client.process(),
                0,
                state(Math.max(server.state(), client.state()), Math.min(server.state(), client.state())),
                false,
                counting.begun(),
                (int) inFlight,
                0,
                TimeCounts.NONE,
                WaitReading.NONE,
                Optional.empty());
    }

    /** The state of the connection is that of the end that has gone further. */
    private static ConnectionState state(int further, int other) throws InvalidMemoryException {
        ConnectionState[] states = ConnectionState.values();
        if (other < 0 || further >= states.length) {
            throw new InvalidMemoryException("its ends' states are " + other + " and " + further);
        }
        return states[further];
    }

    @Override
    public List<ArenaReading> arenas() {
        return List.of();
    }

    @Override
    public void close() throws IOException {
        lifetime.close();
        file.close();
    }
}
