package dev.rackcall.shm.types;

import dev.rackcall.shm.Scope;
import java.util.Optional;

/**
 * A map from {@code long} to shared objects in an arena. It grows in the flyweight's scope. Not thread-safe.
 *
 * @param <V> a shared type or container
 */
public final class SharedLongMap<V> extends SharedMap<V> {
    /** Receives the entries of a map. */
    @FunctionalInterface
    public interface EntryConsumer<V> {
        void accept(long key, V value);
    }

    private SharedLongMap(Type<SharedLongMap<V>, V> type) {
        super(type);
    }

    /** The type of maps to {@code valueType}. Call it during set-up and keep the result. */
    @SuppressWarnings("unchecked") // only this method stores it
    public static <V> SharedType<SharedLongMap<V>> typeOf(SharedType<V> valueType) {
        SharedType<SharedLongMap<V>> known = (SharedType<SharedLongMap<V>>) valueType.longMapType;
        if (known == null) {
            known = newType(valueType);
            valueType.longMapType = known;
        }
        return known;
    }

    private static <V> SharedType<SharedLongMap<V>> newType(SharedType<V> valueType) {
        String name = "SharedLongMap<" + valueType.name() + ">";
        return new Type<SharedLongMap<V>, V>(SharedLongMap.class, name, MapSlots.withLongKeys(valueType), valueType) {
            @Override
            public SharedLongMap<V> flyweight() {
                return new SharedLongMap<>(this);
            }
        };
    }

    /** As {@link #create(Scope, SharedType)}, for a {@link Shared} interface. */
    public static <V> SharedLongMap<V> create(Scope scope, Class<V> values) {
        return create(scope, SharedType.of(values));
    }

    /** Creates an empty map. */
    public static <V> SharedLongMap<V> create(Scope scope, SharedType<V> valueType) {
        return typeOf(valueType).create(scope);
    }

    /**
     * A new flyweight on the value of a key.
     *
     * @throws dev.rackcall.shm.RefException if the value cannot be followed
     * @throws SharedDataException if the map is damaged
     */
    public Optional<V> get(long key) {
        return valueAt(slotOf(key));
    }

    /**
     * Moves a flyweight to the value of a key, allocating nothing.
     *
     * @return false if the key is absent; the flyweight stays where it was
     */
    public boolean get(long key, V into) {
        return valueAt(slotOf(key), into);
    }

    public boolean containsKey(long key) {
        return slotOf(key) >= 0;
    }

    /**
     * Adds or replaces an entry.
     *
     * @return whether the key is new
     */
    public boolean put(long key, V value) {
        long valueRef = refOf(valueType().checked(value, "value"));
        long hash = hash(key);
        int size = size();
        int slot = find(hash, null);
        if (slot >= 0) {
            slots().value(slot, valueRef);
            return false;
        }
        int taken = take(hash, slot, size);
        slots().key(taken, key);
        slots().value(taken, valueRef);
        return true;
    }

    /** @return whether the key was there */
    public boolean remove(long key) {
        return remove(hash(key), null);
    }

    /** Walks over the entries in no particular order. Do not change the map during the walk. */
    public Cursor<V> cursor() {
        return new Cursor<>(this);
    }

    /**
     * Calls {@code action} for each entry with a new flyweight, which it may keep. Do not change the map during
     * the walk.
     */
    public void forEach(EntryConsumer<? super V> action) {
        for (Cursor<V> cursor = cursor(); cursor.next(); ) {
            action.accept(cursor.key(), cursor.value());
        }
    }

    private int slotOf(long key) {
        return size() == 0 ? -1 : find(hash(key), null);
    }

    private long hash(long key) {
        return KeyHash.mix(key ^ seed());
    }

    /** Different keys have different hashes, so comparing hashes is enough. */
    @Override
    boolean matches(int slot, long hash, Object key) {
        return hashAt(slots(), slot) == hash;
    }

    @Override
    long hashAt(MapSlots table, int slot) {
        return hash(table.key(slot));
    }

    /** A walk over the entries of a map. */
    public static final class Cursor<V> extends SharedMap.Cursor<V> {
        private Cursor(SharedLongMap<V> map) {
            super(map);
        }

        /** This entry's key. */
        public long key() {
            return keyBits();
        }
    }
}
