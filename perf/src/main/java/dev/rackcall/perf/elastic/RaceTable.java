package dev.rackcall.perf.elastic;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * A key-value table that clients read one-sided, in the manner of RACE hashing (ATC '21): a key lies in one of two
 * buckets of eight slots; a slot has eight bits of the key's hash and the offset of a block with key and value. A
 * lookup takes two READs that travel together, and one READ of the block.
 *
 * <pre>
 *   +0 buckets (64 each): slots (8 each): fingerprint (8 bits) from bit 48, offset of the block below | blocks (16 each): key (8) value (8)
 * </pre>
 */
final class RaceTable {
    static final int KEYS = 1000;
    static final int BUCKET_BYTES = 64;
    static final int BLOCK_BYTES = 16;
    static final int SLOTS = 8;
    static final int BYTES = 65_536;
    private static final int BUCKETS = 512;
    private static final long BLOCKS = (long) BUCKETS * BUCKET_BYTES;
    private static final int OFFSET_BITS = 48;
    private static final long OFFSET_MASK = (1L << OFFSET_BITS) - 1;
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;

    private RaceTable() {}

    /** Fills the memory with the keys 1 to {@link #KEYS}. */
    static void fill(MemorySegment memory, int server) {
        for (int i = 0; i < KEYS; i++) {
            long key = i + 1L;
            long block = BLOCKS + (long) i * BLOCK_BYTES;
            memory.set(LONG, block, key);
            memory.set(LONG, block + Long.BYTES, value(server, key));
            insert(memory, key, block);
        }
    }

    private static void insert(MemorySegment memory, long key, long block) {
        for (int slot = 0; slot < SLOTS; slot++) {
            for (int choice = 0; choice < 2; choice++) {
                long at = bucket(key, choice) + (long) slot * Long.BYTES;
                if (memory.get(LONG, at) == 0) {
                    memory.set(LONG, at, (long) fingerprint(key) << OFFSET_BITS | block);
                    return;
                }
            }
        }
        throw new IllegalStateException("both buckets of key " + key + " are full");
    }

    static long value(int server, long key) {
        return key * 31 + server;
    }

    private static long hash(long key, int choice) {
        long mixed = (key + choice) * 0x9E3779B97F4A7C15L;
        return (mixed ^ mixed >>> 32) * 0xD6E8FEB86659FD93L;
    }

    /** Offset of one of the key's two buckets. */
    static long bucket(long key, int choice) {
        return (hash(key, choice) >>> 40 & (BUCKETS - 1)) * BUCKET_BYTES;
    }

    private static int fingerprint(long key) {
        return (int) (hash(key, 2) >>> 24 & 0xFF);
    }

    static boolean fits(long slot, long key) {
        return slot != 0 && slot >>> OFFSET_BITS == fingerprint(key);
    }

    static long offset(long slot) {
        return slot & OFFSET_MASK;
    }
}
