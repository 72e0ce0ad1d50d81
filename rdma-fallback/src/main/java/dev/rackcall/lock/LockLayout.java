package dev.rackcall.lock;

/**
 * A lock table: lines of 64 bytes, all numbers little-endian.
 *
 * <pre>
 *    header       magic (8) | descriptors of each cohort (31 bits), whether there are readers (1 bit) | locks (4) | keeper (8)
 *    descriptors  numbers 1 to n for local threads, n + 1 to 2 n for remote ones:
 *                 state (8) | previous (8) | next (8) | owner (8) | lock (8) | skipped (8)
 *                 | bell's address (8) | bell's key (4) | bell's node (4)
 *    locks        remote tail (8) | local tail (8) | victim (8) | token (8) | whether there may be readers (8)
 * </pre>
 *
 * A reference is a descriptor's generation (48 bits) and number (16); 0 is none. A state is generation (48), budget
 * (8), kind (8). When a descriptor becomes FREE its next generation begins. A reference with an earlier generation
 * names a queue place that no longer exists.
 *
 * <p>A bell is a word in the memory of a remote waiter; its address is 0 if there is none. The value rung there is the
 * grant: generation (40), budget (8), number (16).
 */
final class LockLayout {
    static final long MAGIC = 0x524b_414c_4f43_4b34L;
    static final int LINE = 64;

    static final long MAGIC_AT = 0;
    static final long SIZES_AT = 8;
    static final long KEEPER_AT = 16;

    static final long STATE = 0;
    static final long PREVIOUS = 8;
    static final long NEXT = 16;
    static final long OWNER = 24;
    static final long LOCK = 32;
    static final long SKIPPED = 40;
    static final long BELL = 48;
    static final long BELL_PLACE = 56;

    static final long REMOTE_TAIL = 0;
    static final long LOCAL_TAIL = 8;
    static final long VICTIM = 16;
    static final long TOKEN = 24;
    static final long READERS = 32;

    /** In no queue; its owner may use it, or any thread if it has none. */
    static final int FREE = 0;
    /** Behind the descriptor that {@link #PREVIOUS} names, or about to be. */
    static final int WAITING = 1;
    /** First of its queue, or about to be: holds the lock or competes for it with the other cohort. */
    static final int HEAD = 2;
    /** The waiter has given up; the descriptor is still in its queue. */
    static final int GONE = 3;

    /** In no queue: its owner reads the data that the lock guards. */
    static final int READING = 4;

    /** The owner value of a descriptor that its thread has left to the keeper. */
    static final long NOBODY = -1;

    static final int MAX_BUDGET = 255;
    static final int MAX_DESCRIPTORS = 32_767;

    private LockLayout() {}

    /**
     * The size of a table.
     *
     * @param descriptors how many locks all threads of a cohort together can hold or wait for at a time
     * @param locks how many locks there are
     * @param readers whether readers can share them
     */
    record Sizes(int descriptors, int locks, boolean readers) {
        private static final int READERS = 1 << 31;

        Sizes {
            if (descriptors < 1 || descriptors > MAX_DESCRIPTORS || locks < 1) {
                throw new IllegalArgumentException("no lock table has " + descriptors + " descriptors (1 to "
                        + MAX_DESCRIPTORS + ") and " + locks + " locks (1 at least)");
            }
        }

        static Sizes of(long word) {
            return new Sizes((int) word & ~READERS, (int) (word >>> 32), ((int) word & READERS) != 0);
        }

        long word() {
            return (long) locks << 32 | Integer.toUnsignedLong(readers ? descriptors | READERS : descriptors);
        }

        long bytes() {
            return LockLayout.bytes(descriptors, locks);
        }
    }

    static long bytes(int descriptors, int locks) {
        return LINE * (1L + 2L * descriptors + locks);
    }

    static long descriptor(int number) {
        return (long) LINE * number;
    }

    /** The descriptor that this reference names. */
    static long descriptorOf(long reference) {
        return descriptor(number(reference));
    }

    static long lock(int descriptors, int index) {
        return LINE * (1L + 2L * descriptors + index);
    }

    static long reference(long generation, int number) {
        return generation << 16 | number;
    }

    /** The reference to the same descriptor in its next generation. */
    static long next(long reference) {
        return reference + (1L << 16);
    }

    static int number(long reference) {
        return (int) (reference & 0xFFFF);
    }

    static long state(long generation, int budget, int kind) {
        return generation << 16 | (long) budget << 8 | kind;
    }

    /** The state of this descriptor once it is free. */
    static long freed(long reference) {
        return state(generation(reference) + 1, 0, FREE);
    }

    /** The generation in a state or a reference. */
    static long generation(long word) {
        return word >>> 16;
    }

    static int budget(long state) {
        return (int) (state >>> 8 & 0xFF);
    }

    /** The bell's value when this descriptor is granted that budget. Never 0. */
    static long ring(long reference, int budget) {
        return generation(reference) << 24 | (long) budget << 16 | number(reference);
    }

    /** Whether this value rings for that reference, and not for an earlier one of the same thread. */
    static boolean isRingFor(long ring, long reference) {
        return (ring & ~0xFF_0000L) == ring(reference, 0);
    }

    static int budgetOfRing(long ring) {
        return (int) (ring >>> 16 & 0xFF);
    }

    static int kind(long state) {
        return (int) (state & 0xFF);
    }
}
