package dev.rackcall.shm.types;

import dev.rackcall.shm.Ref;
import java.lang.foreign.MemorySegment;

/**
 * The table of a map: a separate object whose number of slots is a power of two. A table of twice the size replaces it
 * when three quarters of the slots are taken. A slot whose value is the null Ref is free. Collisions go to the next
 * slot. Removal moves later slots back, so there are no tombstones.
 *
 * <pre>
 *   0               8          12         16               24       32
 *  +---------------+----------+----------+----------------+--------+
 *  | object header |   size   |  unused  |  Ref of table  |  seed  |
 *  +---------------+----------+----------+----------------+--------+
 *
 *   0               8                          16              24
 *  +---------------+--------------------------+---------------+
 *  | Ref of value  | long key, or Ref of text | hash of text  |
 *  +---------------+--------------------------+---------------+
 * </pre>
 *
 * A slot of a map with {@code long} keys ends after the key.
 */
final class MapSlots extends SharedSequence {
    /** Offsets in the head of the map. */
    static final int MAP_SIZE = 8;

    static final int MAP_TABLE = 16;
    static final int MAP_SEED = 24;
    static final int MAP_BYTES = 32;

    static final int SLOT_VALUE = 0;
    static final int SLOT_KEY = 8;
    static final int SLOT_HASH = 16;
    private static final int LONG_SLOT_BYTES = 16;
    private static final int STRING_SLOT_BYTES = 24;

    private MapSlots(SlotsType type) {
        super(type);
    }

    static Type<MapSlots> withLongKeys(SharedType<?> valueType) {
        return new SlotsType("LongSlots<" + valueType.name() + ">", LONG_SLOT_BYTES, valueType);
    }

    static Type<MapSlots> withStringKeys(SharedType<?> valueType) {
        return new SlotsType("StringSlots<" + valueType.name() + ">", STRING_SLOT_BYTES, valueType);
    }

    boolean isFree(int slot) {
        return value(slot) == Ref.NULL;
    }

    long value(int slot) {
        return memory().get(ObjectLayout.LONG, at(slot) + SLOT_VALUE);
    }

    void value(int slot, long ref) {
        writable().set(ObjectLayout.LONG, at(slot) + SLOT_VALUE, ref);
    }

    long key(int slot) {
        return memory().get(ObjectLayout.LONG, at(slot) + SLOT_KEY);
    }

    void key(int slot, long key) {
        writable().set(ObjectLayout.LONG, at(slot) + SLOT_KEY, key);
    }

    /** Only for text keys. */
    long hash(int slot) {
        return memory().get(ObjectLayout.LONG, at(slot) + SLOT_HASH);
    }

    void hash(int slot, long hash) {
        writable().set(ObjectLayout.LONG, at(slot) + SLOT_HASH, hash);
    }

    void move(int from, MapSlots target, int to) {
        copyElements(from, target, to, 1);
    }

    void free(int slot) {
        writable().asSlice(at(slot), bytesFor(1) - ObjectLayout.HEADER_BYTES).fill((byte) 0);
    }

    void freeAll() {
        writable()
                .asSlice(start(), bytesFor(length()) - ObjectLayout.HEADER_BYTES)
                .fill((byte) 0);
    }

    private static final class SlotsType extends Type<MapSlots> {
        private final int slotBytes;
        private final SharedType<?> valueType;

        private SlotsType(String name, int slotBytes, SharedType<?> valueType) {
            super(MapSlots.class, name, slotBytes);
            this.slotBytes = slotBytes;
            this.valueType = valueType;
        }

        @Override
        public MapSlots flyweight() {
            return new MapSlots(this);
        }

        @Override
        void forward(GraphCopy copy, MemorySegment memory, long base, int objectBytes) {
            for (long at = ObjectLayout.HEADER_BYTES; at < objectBytes; at += slotBytes) {
                long slot = base + at;
                if (memory.get(ObjectLayout.LONG, slot + SLOT_VALUE) != Ref.NULL) {
                    copy.forward(memory, slot + SLOT_VALUE, valueType);
                    if (slotBytes == STRING_SLOT_BYTES) {
                        copy.forward(memory, slot + SLOT_KEY, SharedString.TYPE);
                    }
                }
            }
        }
    }
}
