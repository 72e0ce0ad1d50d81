package dev.rackcall.rpc.shm.view;

import dev.rackcall.rpc.shm.notes.PoolNote;
import dev.rackcall.rpc.shm.protocol.ControlLayout;
import dev.rackcall.rpc.shm.protocol.Handshake;
import dev.rackcall.rpc.shm.protocol.SlotLayout;
import dev.rackcall.shm.os.file.ObservedFile;
import java.io.EOFException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * The memory of a connection between other processes, open for reading only. Calls leave traces there that an observer
 * can count without any help: each request has a ticket, and so has its answer.
 *
 * <p>For one thread. Close it soon after its processes have closed theirs, because it keeps the memory alive.
 */
public final class ConnectionMemory implements ObservedConnection {
    /** How often memory is read before it counts as invalid: it may change while it is copied. */
    private static final int ATTEMPTS = 5;

    /** Arenas begin on a page of the file, small or huge. */
    private static final List<Long> PAGE_SIZES = List.of(ControlLayout.PAGE, 2L << 20);

    private final ObservedFile file;
    private final long bytes;
    private final Arena lifetime = Arena.ofConfined();
    private final MemorySegment arenaHeader = lifetime.allocate(ArenaReading.HEADER_BYTES, Long.BYTES);
    /** The copy of the header, then of header and slots. */
    private MemorySegment copy = lifetime.allocate(ControlLayout.FIRST_SLOT, Long.BYTES);

    private ConnectionMemory(ObservedFile file) {
        this.file = file;
        this.bytes = file.bytes();
    }

    /**
     * Opens memory whose name says that it may be a connection's.
     *
     * @param path of a process's descriptor, {@code /proc/PID/fd/N}
     * @return empty if it is something else of Rackcall's, or not yet a connection's
     * @throws InvalidMemoryException if it is neither
     * @throws IOException if it cannot be opened or read
     */
    public static Optional<ConnectionMemory> open(Path path) throws IOException, InvalidMemoryException {
        return open(ObservedFile.open(path));
    }

    /**
     * As {@link #open(Path)}, for memory in a pool.
     *
     * @param path of the pool, at a process's descriptor
     * @throws InvalidMemoryException also if the pool has no such window
     */
    public static Optional<ConnectionMemory> open(Path path, PoolNote window)
            throws IOException, InvalidMemoryException {
        ObservedFile part;
        try {
            part = ObservedFile.open(path, window.place(), window.bytes());
        } catch (EOFException e) {
            throw new InvalidMemoryException("it lies outside its pool");
        }
        return open(part);
    }

    private static Optional<ConnectionMemory> open(ObservedFile file) throws IOException, InvalidMemoryException {
        ConnectionMemory memory = new ConnectionMemory(file);
        boolean wanted = false;
        try {
            wanted = memory.isConnection();
            return wanted ? Optional.of(memory) : Optional.empty();
        } finally {
            if (!wanted) {
                memory.close();
            }
        }
    }

    private boolean isConnection() throws IOException, InvalidMemoryException {
        if (bytes < ControlLayout.FIRST_SLOT) {
            throw new InvalidMemoryException("it has only " + bytes + " bytes");
        }
        copyOf(ControlLayout.FIRST_SLOT);
        if (ControlLayout.hasMagic(copy)) {
            return true;
        }
        // Nothing is written there before all else is, and nothing at all in memory that only holds a place.
        if (copy.get(ValueLayout.JAVA_LONG, 0) == 0 || dev.rackcall.shm.Arena.isAt(copy)) {
            return false;
        }
        throw new InvalidMemoryException("it begins as no memory of Rackcall's does");
    }

    /** Copies the first bytes of the memory. */
    private void copyOf(long length) throws IOException {
        if (copy.byteSize() < length) {
            copy = lifetime.allocate(length, Long.BYTES);
        }
        file.read(copy.asSlice(0, length).asByteBuffer(), 0);
    }

    @Override
    public ConnectionReading read() throws IOException, InvalidMemoryException {
        for (int attempt = 1; ; attempt++) {
            try {
                copyOf(ControlLayout.FIRST_SLOT);
                int slots = slots();
                copyOf(ControlLayout.slotBytes(slots));
                return reading(slots);
            } catch (InvalidMemoryException e) {
                if (attempt == ATTEMPTS) {
                    throw e;
                }
            }
        }
    }

    private int slots() throws InvalidMemoryException {
        if (!ControlLayout.hasMagic(copy)) {
            throw new InvalidMemoryException("its header was overwritten");
        }
        int version = ControlLayout.version(copy);
        if (version != ControlLayout.VERSION) {
            throw new InvalidMemoryException("it has layout version " + version + ", this release reads version "
                    + ControlLayout.VERSION + "; use the rackcall of the same release");
        }
        int slots = ControlLayout.slots(copy);
        if (Integer.bitCount(slots) != 1 || slots < Handshake.MIN_SLOTS || slots > Handshake.MAX_SLOTS) {
            throw new InvalidMemoryException("its slot count is " + slots);
        }
        if (ControlLayout.slotBytes(slots) > bytes) {
            throw new InvalidMemoryException("its " + slots + " slots do not fit into its " + bytes + " bytes");
        }
        return slots;
    }

    private ConnectionReading reading(int slots) throws InvalidMemoryException {
        int newest = newest(slots);
        long consumed = ControlLayout.consumed(copy);
        // Slots have only the low halves of tickets; the server's count has both halves and is not far behind.
        int ahead = newest - (int) consumed;
        if (consumed < 0 || ahead < 0) {
            throw new InvalidMemoryException("its server took " + consumed + " requests, its client sent "
                    + Integer.toUnsignedString(newest) + " (modulo 2^32)");
        }
        int inFlight = 0;
        for (int slot = 0; slot < slots; slot++) {
            inFlight += isInFlight(ControlLayout.slot(slot)) ? 1 : 0;
        }
        int sleeping = 0;
        for (int first = 0; first < slots; first += Long.SIZE) {
            sleeping += Long.bitCount(ControlLayout.asleep(copy, first));
        }
        if (sleeping > slots) {
            throw new InvalidMemoryException(sleeping + " callers sleep at its " + slots + " slots");
        }
        return new ConnectionReading(
                ControlLayout.server(copy),
                ControlLayout.client(copy),
                slots,
                ConnectionState.of(ControlLayout.state(copy)),
                ControlLayout.isWatched(copy),
                consumed + ahead,
                inFlight,
                sleeping,
                TimeCounts.of(copy),
                WaitReading.of(copy),
                ControlLayout.route(copy));
    }

    @Override
    public List<ArenaReading> arenas() throws IOException {
        for (long page : PAGE_SIZES) {
            long first = (ControlLayout.controlBytes(ControlLayout.slots(copy)) + page - 1) & -page;
            Optional<ArenaReading> request = arenaAt(first);
            if (request.isPresent()) {
                Optional<ArenaReading> reply = arenaAt(first + request.get().quotaBytes());
                return reply.map(each -> List.of(request.get(), each)).orElse(List.of());
            }
        }
        return List.of();
    }

    private Optional<ArenaReading> arenaAt(long offset) throws IOException {
        if (offset < 0 || offset > bytes - ArenaReading.HEADER_BYTES) {
            return Optional.empty();
        }
        arenaHeader.fill((byte) 0);
        file.read(arenaHeader.asByteBuffer(), offset);
        return ArenaReading.of(arenaHeader, bytes - offset);
    }

    private boolean isInFlight(long slot) {
        long request = SlotLayout.requestWord(copy, slot);
        return (int) request != (int) SlotLayout.responseWord(copy, slot)
                && (SlotLayout.flags(request) & SlotLayout.SKIP) == 0;
    }

    /** The low half of one plus the highest ticket, which is how many requests were sent. */
    private int newest(int slots) throws InvalidMemoryException {
        int newest = sent(0);
        for (int slot = 0; slot < slots; slot++) {
            int sent = sent(slot);
            // Requests may go round the first slots only; their number divides that of all.
            if (sent != 0 && ((sent - 1 - slot) & (Math.min(slots, ControlLayout.NARROW_SLOTS) - 1)) != 0) {
                throw new InvalidMemoryException(
                        "request " + Integer.toUnsignedString(sent) + " lies in slot " + slot + " of " + slots);
            }
            newest = sent - newest > 0 ? sent : newest;
        }
        for (int slot = 0; slot < Math.min(slots, ControlLayout.NARROW_SLOTS); slot++) {
            // A request is sent only after the server has taken, in order, the one a lap before.
            if (newest - sent(slot) > 2 * slots) {
                throw new InvalidMemoryException("request " + Integer.toUnsignedString(newest)
                        + " was sent, although slot " + slot + " is more than a lap behind");
            }
        }
        return newest;
    }

    private int sent(int slot) {
        return (int) SlotLayout.requestWord(copy, ControlLayout.slot(slot));
    }

    @Override
    public void close() throws IOException {
        lifetime.close();
        file.close();
    }
}
