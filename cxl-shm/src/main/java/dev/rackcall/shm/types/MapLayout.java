package dev.rackcall.shm.types;

/**
 * The head of every map, and a slot of its table. The table is an object of its own, a power of two of slots, which a larger one replaces
 * when three quarters of it are taken. A slot whose value is the null Ref is free. Collisions go to the next slot; removal moves
 * later slots back, so there are no tombstones.
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
 * Slots of maps with {@code long} keys end after the key.
 */
final class MapLayout {
    static final int SIZE = 8;
    static final int TABLE = 16;
    static final int SEED = 24;
    static final int BYTES = 32;

    static final int SLOT_VALUE = 0;
    static final int SLOT_KEY = 8;
    static final int SLOT_HASH = 16;
    static final int LONG_SLOT_BYTES = 16;
    static final int STRING_SLOT_BYTES = 24;

    private MapLayout() {}
}
