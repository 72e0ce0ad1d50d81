package dev.rackcall.shm.types;

import java.lang.foreign.MemorySegment;

/**
 * Copies short ASCII text into shared memory without allocating. Most text is short: for it, an array of bytes costs
 * more than the copy. Longer text is encoded by the JDK, which vectorises.
 */
final class AsciiText {
    private static final int LONGEST = 128;
    private static final int FIRST_BEYOND = 0x80;

    private AsciiText() {}

    /** Whether {@link #put} takes this text. */
    static boolean isShort(String text) {
        int chars = text.length();
        if (chars > LONGEST) {
            return false;
        }
        int seen = 0;
        for (int i = 0; i < chars; i++) {
            seen |= text.charAt(i);
        }
        return seen < FIRST_BEYOND;
    }

    /** Stores text that {@link #isShort} accepted. */
    static void put(String text, MemorySegment memory, long at) {
        int done = putWords(text, memory, at);
        for (; done < text.length(); done++) {
            memory.set(ObjectLayout.BYTE, at + done, (byte) text.charAt(done));
        }
    }

    /** As {@link #put}, for text whose room is a multiple of eight bytes: also zeroes the rest of the last eight. */
    static void putPadded(String text, MemorySegment memory, long at) {
        int chars = text.length();
        int done = putWords(text, memory, at);
        if (done < chars) {
            long last = 0;
            for (int i = chars - 1; i >= done; i--) {
                last = last << Byte.SIZE | text.charAt(i);
            }
            memory.set(ObjectLayout.LONG, at + done, last);
        }
    }

    /** Stores all whole words of eight characters; returns how many characters those are. */
    private static int putWords(String text, MemorySegment memory, long at) {
        int done = 0;
        for (; done + Long.BYTES <= text.length(); done += Long.BYTES) {
            long eight = 0;
            for (int i = 0; i < Long.BYTES; i++) {
                eight |= (long) text.charAt(done + i) << (i * Byte.SIZE);
            }
            memory.set(ObjectLayout.LONG, at + done, eight);
        }
        return done;
    }
}
