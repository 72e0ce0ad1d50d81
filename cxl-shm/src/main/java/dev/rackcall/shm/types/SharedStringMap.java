package dev.rackcall.shm.types;

import dev.rackcall.shm.Scope;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.function.BiConsumer;

/**
 * A map from text to shared objects in an arena. Keys are {@link SharedString}s; a lookup with a Java string creates
 * none. New entries and growth allocate in the flyweight's scope. Not thread-safe.
 *
 * @param <V> a shared type or container
 */
public final class SharedStringMap<V> extends SharedMap<V> {
    private final SharedString stored = SharedString.TYPE.flyweight();

    private SharedStringMap(Type<SharedStringMap<V>, V> type) {
        super(type);
    }

    /** The type of maps to {@code valueType}. Call it during set-up and keep the result. */
    @SuppressWarnings("unchecked") // only this method stores it
    public static <V> SharedType<SharedStringMap<V>> typeOf(SharedType<V> valueType) {
        SharedType<SharedStringMap<V>> known = (SharedType<SharedStringMap<V>>) valueType.stringMapType;
        if (known == null) {
            known = newType(valueType);
            valueType.stringMapType = known;
        }
        return known;
    }

    private static <V> SharedType<SharedStringMap<V>> newType(SharedType<V> valueType) {
        String name = "SharedStringMap<" + valueType.name() + ">";
        return new Type<SharedStringMap<V>, V>(
                SharedStringMap.class, name, MapSlots.withStringKeys(valueType), valueType) {
            @Override
            public SharedStringMap<V> flyweight() {
                return new SharedStringMap<>(this);
            }
        };
    }

    /** As {@link #create(Scope, SharedType)}, for a {@link Shared} interface. */
    public static <V> SharedStringMap<V> create(Scope scope, Class<V> values) {
        return create(scope, SharedType.of(values));
    }

    /** Creates an empty map. */
    public static <V> SharedStringMap<V> create(Scope scope, SharedType<V> valueType) {
        return typeOf(valueType).create(scope);
    }

    /**
     * A new flyweight on the value of a key.
     *
     * @throws dev.rackcall.shm.RefException if a key or the value cannot be followed
     * @throws SharedDataException if the map is damaged
     */
    public Optional<V> get(String key) {
        return valueAt(slotOf(utf8(key)));
    }

    /** As {@link #get(String)}, without a Java string. */
    public Optional<V> get(SharedString key) {
        return valueAt(slotOf(key));
    }

    /**
     * Moves a flyweight to the value of a key.
     *
     * @return false if the key is absent; the flyweight stays where it was
     */
    public boolean get(String key, V into) {
        return valueAt(slotOf(utf8(key)), into);
    }

    /** As {@link #get(String, Object)}, without a Java string; allocates nothing. */
    public boolean get(SharedString key, V into) {
        return valueAt(slotOf(key), into);
    }

    public boolean containsKey(String key) {
        return slotOf(utf8(key)) >= 0;
    }

    public boolean containsKey(SharedString key) {
        return slotOf(key) >= 0;
    }

    /**
     * Adds or replaces an entry; a new key is copied into the flyweight's scope.
     *
     * @return whether the key is new
     */
    public boolean put(String key, V value) {
        byte[] utf8 = utf8(key);
        return put(KeyHash.of(utf8, seed()), utf8, null, value);
    }

    /**
     * Adds or replaces an entry. The map refers to {@code key} itself, which must live as long as the map.
     *
     * @return whether the key is new
     */
    public boolean put(SharedString key, V value) {
        return put(key.contentHash(seed()), key, key, value);
    }

    /** @return whether the key was there */
    public boolean remove(String key) {
        byte[] utf8 = utf8(key);
        return remove(KeyHash.of(utf8, seed()), utf8);
    }

    /** @return whether the key was there */
    public boolean remove(SharedString key) {
        return remove(key.contentHash(seed()), key);
    }

    /** Walks over the entries in no particular order. Do not change the map during the walk. */
    public Cursor<V> cursor() {
        return new Cursor<>(this);
    }

    /**
     * Calls {@code action} for each entry with new flyweights, which it may keep. Do not change the map during
     * the walk.
     */
    public void forEach(BiConsumer<? super SharedString, ? super V> action) {
        for (Cursor<V> cursor = cursor(); cursor.next(); ) {
            action.accept(cursor.key(), cursor.value());
        }
    }

    private boolean put(long hash, Object sought, SharedString key, V value) {
        long valueRef = refOf(valueType().checked(value, "value"));
        int size = size();
        int slot = find(hash, sought);
        if (slot >= 0) {
            slots().value(slot, valueRef);
            return false;
        }
        SharedString text = key == null ? SharedString.create(allocatingScope("key"), (byte[]) sought) : key;
        int taken = take(hash, slot, size);
        slots().key(taken, refOf(text));
        slots().hash(taken, hash);
        slots().value(taken, valueRef);
        return true;
    }

    private int slotOf(byte[] utf8) {
        return size() == 0 ? -1 : find(KeyHash.of(utf8, seed()), utf8);
    }

    private int slotOf(SharedString key) {
        return size() == 0 ? -1 : find(key.contentHash(seed()), key);
    }

    @Override
    boolean matches(int slot, long hash, Object key) {
        if (slots().hash(slot) != hash) {
            return false;
        }
        stored.bind(attachedSpace(), scope(), slots().key(slot));
        return key instanceof SharedString text ? stored.contentEquals(text) : stored.contentEquals(0, (byte[]) key);
    }

    @Override
    long hashAt(MapSlots table, int slot) {
        return table.hash(slot);
    }

    private static byte[] utf8(String key) {
        return key.getBytes(StandardCharsets.UTF_8);
    }

    /** A walk over the entries of a map. */
    public static final class Cursor<V> extends SharedMap.Cursor<V> {
        private final SharedStringMap<V> map;

        private Cursor(SharedStringMap<V> map) {
            super(map);
            this.map = map;
        }

        /** A new flyweight on this entry's key. */
        public SharedString key() {
            return SharedString.TYPE.attach(map.attachedSpace(), map.scope(), keyBits());
        }

        /** Moves a flyweight to this entry's key. */
        public void key(SharedString into) {
            into.bind(map.attachedSpace(), map.scope(), keyBits());
        }
    }
}
