package dev.rackcall.shm.types;

import dev.rackcall.shm.Ref;
import java.lang.foreign.MemorySegment;

/** The table of a map, as {@link MapLayout} draws it. */
final class MapSlots extends SharedSequence {
    private MapSlots(SlotsType type) {
        super(type);
    }

    static Type<MapSlots> withLongKeys(SharedType<?> valueType) {
        return new SlotsType("LongSlots<" + valueType.name() + ">", MapLayout.LONG_SLOT_BYTES, valueType);
    }

    static Type<MapSlots> withStringKeys(SharedType<?> valueType) {
        return new SlotsType("StringSlots<" + valueType.name() + ">", MapLayout.STRING_SLOT_BYTES, valueType);
    }

    boolean isFree(int slot) {
        return value(slot) == Ref.NULL;
    }

    long value(int slot) {
        return memory().get(ObjectLayout.LONG, at(slot) + MapLayout.SLOT_VALUE);
    }

    void value(int slot, long ref) {
        writable().set(ObjectLayout.LONG, at(slot) + MapLayout.SLOT_VALUE, ref);
    }

    long key(int slot) {
        return memory().get(ObjectLayout.LONG, at(slot) + MapLayout.SLOT_KEY);
    }

    void key(int slot, long key) {
        writable().set(ObjectLayout.LONG, at(slot) + MapLayout.SLOT_KEY, key);
    }

    /** Only where keys are text. */
    long hash(int slot) {
        return memory().get(ObjectLayout.LONG, at(slot) + MapLayout.SLOT_HASH);
    }

    void hash(int slot, long hash) {
        writable().set(ObjectLayout.LONG, at(slot) + MapLayout.SLOT_HASH, hash);
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
                if (memory.get(ObjectLayout.LONG, slot + MapLayout.SLOT_VALUE) != Ref.NULL) {
                    copy.forward(memory, slot + MapLayout.SLOT_VALUE, valueType);
                    if (slotBytes == MapLayout.STRING_SLOT_BYTES) {
                        copy.forward(memory, slot + MapLayout.SLOT_KEY, SharedString.TYPE);
                    }
                }
            }
        }
    }
}
