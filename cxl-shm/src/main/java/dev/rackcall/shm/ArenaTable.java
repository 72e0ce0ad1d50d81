package dev.rackcall.shm;

import java.util.Arrays;
import java.util.function.Predicate;

/**
 * The few arenas whose Refs may be followed here, looked up by id. Each connection has one table, which limits what its
 * peer can refer to. Adding copies the table; a lookup takes no lock. Thread-safe.
 */
public final class ArenaTable extends RefSpace {
    private final boolean readOnly;
    private volatile Arena[] arenas = new Arena[0];
    private volatile Predicate<Object> releasing = _ -> false;

    private ArenaTable(boolean readOnly) {
        this.readOnly = readOnly;
    }

    public static ArenaTable create() {
        return new ArenaTable(false);
    }

    /** A table whose objects may only be read; a store to one throws {@link ReadOnlyObjectException}. */
    public static ArenaTable createReadOnly() {
        return new ArenaTable(true);
    }

    /**
     * Allows Refs into {@code arena}.
     *
     * @throws IllegalArgumentException if its id already belongs to another arena
     */
    public synchronized void add(Arena arena) {
        for (Arena present : arenas) {
            if (present.id() == arena.id()) {
                throw new IllegalArgumentException(
                        arena + " cannot be added: that id already leads to " + present + "; give it another id");
            }
        }
        Arena[] longer = Arrays.copyOf(arenas, arenas.length + 1);
        longer[arenas.length] = arena;
        arenas = longer;
    }

    /** Sets what {@link #release} does. */
    public void releaseBy(Predicate<Object> action) {
        releasing = action;
    }

    @Override
    public boolean release(Object sharedObject) {
        return releasing.test(sharedObject);
    }

    /** No longer allows Refs into that arena. */
    public synchronized void remove(int id) {
        arenas = Arrays.stream(arenas).filter(arena -> arena.id() != id).toArray(Arena[]::new);
    }

    /** Whether Refs into the arena of that id are allowed. */
    public boolean leadsTo(int id) {
        return Arrays.stream(arenas).anyMatch(arena -> arena.id() == id);
    }

    @Override
    public Window window(long ref) {
        int id = Ref.arenaId(ref);
        for (Arena arena : arenas) {
            if (arena.id() == id) {
                String complaint = arena.complaint(ref);
                if (complaint != null) {
                    throw new RefException(Ref.describe(ref) + " cannot be followed: " + complaint);
                }
                return readOnly ? arena.readOnlyWindow() : arena.window();
            }
        }
        NullRefException.throwIfNull(ref);
        throw new RefException(Ref.describe(ref)
                + " names an arena that is not mapped here; a Ref must lead into an arena that both sides have mapped,"
                + " such as a scope of the same channel or pool");
    }
}
