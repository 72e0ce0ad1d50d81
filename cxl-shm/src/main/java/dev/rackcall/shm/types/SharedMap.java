package dev.rackcall.shm.types;

import dev.rackcall.shm.Ref;
import dev.rackcall.shm.RefException;
import dev.rackcall.shm.Scope;
import java.lang.foreign.MemorySegment;
import java.util.ConcurrentModificationException;
import java.util.NoSuchElementException;
import java.util.Optional;

/**
 * Base class of {@link SharedStringMap} and {@link SharedLongMap}: a hash table with linear probing in an arena.
 * Declare fields as one of these two. A map grows in the flyweight's scope. Not thread-safe.
 *
 * <p>A search visits at most {@value #MAX_PROBES} slots. Seeded hashes never need so many, so a map that does is
 * reported as damaged.
 *
 * @param <V> a shared type or container
 */
public abstract class SharedMap<V> extends SharedObject {
    /**
     * At three quarters full, linear probing over n slots has sequences of up to about ln(n) / 0.038 slots: 540 for a
     * billion (Knuth, The Art of Computer Programming 3, 6.4).
     */
    static final int MAX_PROBES = 4096;

    private static final int FIRST_CAPACITY = 8;
    private static final int MAX_CAPACITY = 1 << 26;

    private final Type<?, V> type;
    private final MapSlots slots;
    private long slotsRef;

    SharedMap(Type<?, V> type) {
        super(type, true);
        this.type = type;
        this.slots = type.slotsType.flyweight();
    }

    /**
     * Number of entries.
     *
     * @throws SharedDataException if it is negative or more than the table holds
     */
    public final int size() {
        MemorySegment memory = memory();
        long ref = memory.get(ObjectLayout.LONG, base() + MapSlots.MAP_TABLE);
        if (ref != slotsRef) {
            adopt(ref);
        }
        int size = memory.get(ObjectLayout.INT, base() + MapSlots.MAP_SIZE);
        if (size < 0 || size > capacity()) {
            throw damaged(this + " says it has " + size + " entries; its table has " + capacity() + " slots");
        }
        return size;
    }

    public final boolean isEmpty() {
        return size() == 0;
    }

    /** Removes all entries; the map keeps its table. */
    public final void clear() {
        size();
        size(0);
        if (slotsRef != Ref.NULL) {
            slots.freeAll();
        }
    }

    @Override
    final void placed() {
        slotsRef = Ref.NULL;
    }

    /** Whether the slot holds the key; {@code key} is what the subclass passed to {@link #find}. */
    abstract boolean matches(int slot, long hash, Object key);

    /** The hash of the key in a slot; it determines the slot where the key belongs. */
    abstract long hashAt(MapSlots table, int slot);

    final long seed() {
        return memory().get(ObjectLayout.LONG, base() + MapSlots.MAP_SEED);
    }

    final SharedType<V> valueType() {
        return type.valueType;
    }

    /** The table as {@link #size} last read it. A peer cannot replace it during an operation. */
    final MapSlots slots() {
        return slots;
    }

    /** Number of slots; 0 before the first entry. */
    final int capacity() {
        return slotsRef == Ref.NULL ? 0 : slots.length();
    }

    /** The slot that holds the key, or the complement of the free slot where it belongs. Call {@link #size} first. */
    final int find(long hash, Object key) {
        int capacity = capacity();
        if (capacity == 0) {
            return -1;
        }
        int slot = (int) hash & (capacity - 1);
        for (int probes = Math.min(capacity, MAX_PROBES); probes > 0; probes--) {
            if (slots.isFree(slot)) {
                return ~slot;
            }
            if (matches(slot, hash, key)) {
                return slot;
            }
            slot = (slot + 1) & (capacity - 1);
        }
        throw tooManyProbes();
    }

    /** Counts a new entry and returns its slot, which the caller fills. */
    final int take(long hash, int notFound, int size) {
        int slot = ~notFound;
        if ((size + 1) * 4L > capacity() * 3L) {
            grow();
            slot = freeSlot(slots, hash);
        }
        size(size + 1);
        return slot;
    }

    /** Removes the entry of a key; false if there is none. */
    final boolean remove(long hash, Object key) {
        int size = size();
        int slot = find(hash, key);
        if (slot < 0) {
            return false;
        }
        free(slot);
        size(size - 1);
        return true;
    }

    /** Frees a slot, and moves back later slots that are not in their place (Knuth's Algorithm 6.4 R). */
    private void free(int slot) {
        int mask = capacity() - 1;
        int hole = slot;
        int next = slot;
        for (int probes = Math.min(capacity(), MAX_PROBES); probes > 0; probes--) {
            next = (next + 1) & mask;
            if (slots.isFree(next)) {
                slots.free(hole);
                return;
            }
            int home = (int) hashAt(slots, next) & mask;
            if (((next - home) & mask) >= ((next - hole) & mask)) {
                slots.move(next, slots, hole);
                hole = next;
            }
        }
        throw tooManyProbes();
    }

    private void grow() {
        int capacity = capacity();
        if (capacity >= MAX_CAPACITY) {
            throw new IllegalStateException(
                    this + " is full: " + MAX_CAPACITY + " slots are the most that a map can have");
        }
        Scope scope = allocatingScope(type.name());
        MapSlots larger = type.slotsType.createOf(scope, Math.max(FIRST_CAPACITY, capacity * 2));
        for (int slot = 0; slot < capacity; slot++) {
            if (!slots.isFree(slot)) {
                slots.move(slot, larger, freeSlot(larger, hashAt(slots, slot)));
            }
        }
        long ref = refOf(larger);
        writable().set(ObjectLayout.LONG, base() + MapSlots.MAP_TABLE, ref);
        adopt(ref);
    }

    private int freeSlot(MapSlots table, long hash) {
        int mask = table.length() - 1;
        int slot = (int) hash & mask;
        for (int probes = Math.min(table.length(), MAX_PROBES); probes > 0; probes--) {
            if (table.isFree(slot)) {
                return slot;
            }
            slot = (slot + 1) & mask;
        }
        throw tooManyProbes();
    }

    private void adopt(long ref) {
        slotsRef = Ref.NULL;
        if (type.slotsType.move(slots, attachedSpace(), scope(), ref)) {
            int capacity = slots.length();
            if (Integer.bitCount(capacity) != 1 || capacity > MAX_CAPACITY) {
                throw damaged(this + " has a table of " + capacity + " slots; tables have a power of two, up to "
                        + MAX_CAPACITY);
            }
        }
        slotsRef = ref;
    }

    private void size(int size) {
        writable().set(ObjectLayout.INT, base() + MapSlots.MAP_SIZE, size);
    }

    /** A new flyweight on the value in a slot found by {@link #find}; empty if there is none. */
    final Optional<V> valueAt(int slot) {
        return slot < 0 ? Optional.empty() : Optional.of(attachTo(type.valueType, slots.value(slot)));
    }

    /** Moves a flyweight to the value in a slot found by {@link #find}; false if there is none. */
    final boolean valueAt(int slot, V into) {
        return slot >= 0 && moveTo(type.valueType, into, slots.value(slot));
    }

    private RuntimeException tooManyProbes() {
        return damaged(this + " is damaged: " + MAX_PROBES + " slots, or all " + capacity()
                + ", were searched without finding a free one");
    }

    /** A walk over the entries of a map. It allocates only the flyweights that the caller asks for. */
    public abstract static class Cursor<V> {
        private final SharedMap<V> map;
        private final long table;
        private int slot = -1;

        Cursor(SharedMap<V> map) {
            map.size();
            this.map = map;
            this.table = map.slotsRef;
        }

        /**
         * Moves to the next entry.
         *
         * @return false at the end
         * @throws ConcurrentModificationException if the map's table was replaced
         */
        public final boolean next() {
            map.size();
            if (map.slotsRef != table) {
                throw new ConcurrentModificationException(map + " grew during a walk over it; start the walk again");
            }
            do {
                slot++;
            } while (slot < map.capacity() && map.slots.isFree(slot));
            return slot < map.capacity();
        }

        /** A new flyweight on this entry's value. */
        public final V value() {
            return map.attachTo(map.type.valueType, map.slots.value(taken()));
        }

        /**
         * Moves a flyweight to this entry's value.
         *
         * @throws RefException if the entry was removed in the meantime, or the value cannot be followed
         */
        public final void value(V into) {
            if (!map.valueAt(taken(), into)) {
                throw new RefException("the entry of " + map + " that the walk is at was removed");
            }
        }

        final long keyBits() {
            return map.slots.key(taken());
        }

        private int taken() {
            if (slot < 0 || slot >= map.capacity()) {
                throw new NoSuchElementException("call next() first; an entry is there while it returns true");
            }
            return slot;
        }
    }

    /** The type of a map. */
    abstract static class Type<T extends SharedMap<V>, V> extends SharedType<T> {
        private final SharedSequence.Type<MapSlots> slotsType;
        private final SharedType<V> valueType;

        Type(Class<? super T> type, String name, SharedSequence.Type<MapSlots> slotsType, SharedType<V> valueType) {
            super(
                    type,
                    name,
                    MapSlots.MAP_BYTES,
                    name + "{size:int@8, table:->" + slotsType.name() + "@16, seed:long@24}:32");
            this.slotsType = slotsType;
            this.valueType = valueType;
        }

        @Override
        protected final void references(ReferenceFields fields) {
            fields.reference(MapSlots.MAP_TABLE, slotsType);
        }

        @Override
        final void created(MemorySegment memory, long base) {
            memory.set(ObjectLayout.LONG, base + MapSlots.MAP_SEED, KeyHash.newSeed());
        }
    }
}
