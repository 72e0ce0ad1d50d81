package dev.rackcall.shm.types;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.security.SecureRandom;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Hashes map keys, eight bytes at a time, by 128-bit multiplication as in wyhash. Each map has a random seed, so that a
 * peer that only sends keys cannot make them collide.
 */
final class KeyHash {
    private static final VarHandle WORD = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final long LENGTH_FACTOR = 0xa0761d6478bd642fL;
    private static final long WORD_FACTOR = 0xe7037ed1a0b428dbL;
    private static final AtomicLong NEXT_SEED = new AtomicLong(new SecureRandom().nextLong());

    private KeyHash() {}

    static long newSeed() {
        return mix(NEXT_SEED.addAndGet(LENGTH_FACTOR));
    }

    static long of(byte[] key, long seed) {
        long hash = start(key.length, seed);
        int at = 0;
        for (; at <= key.length - Long.BYTES; at += Long.BYTES) {
            hash = step(hash, (long) WORD.get(key, at));
        }
        long tail = 0;
        for (int shift = 0; at < key.length; at++, shift += Byte.SIZE) {
            tail |= (key[at] & 0xffL) << shift;
        }
        return mix(step(hash, tail));
    }

    static long of(MemorySegment memory, long from, int length, long seed) {
        long hash = start(length, seed);
        long end = from + length;
        long at = from;
        for (; at <= end - Long.BYTES; at += Long.BYTES) {
            hash = step(hash, memory.get(ObjectLayout.LONG, at));
        }
        long tail = 0;
        for (int shift = 0; at < end; at++, shift += Byte.SIZE) {
            tail |= (memory.get(ObjectLayout.BYTE, at) & 0xffL) << shift;
        }
        return mix(step(hash, tail));
    }

    private static long start(int length, long seed) {
        return seed ^ (length * LENGTH_FACTOR);
    }

    private static long step(long hash, long word) {
        long mixed = hash ^ word;
        return Math.unsignedMultiplyHigh(mixed, WORD_FACTOR) ^ (mixed * WORD_FACTOR);
    }

    /** The finalizer of MurmurHash3. It is one-to-one, so equal results mean equal arguments. */
    static long mix(long value) {
        long mixed = (value ^ (value >>> 33)) * 0xff51afd7ed558ccdL;
        mixed = (mixed ^ (mixed >>> 33)) * 0xc4ceb9fe1a85ec53L;
        return mixed ^ (mixed >>> 33);
    }
}
