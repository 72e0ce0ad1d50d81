package dev.rackcall.shm;

/**
 * A typed 64-bit pointer into an arena. The same value means the same object in every process and on every host.
 *
 * <pre>
 *  63            48 47          40 39                                   0
 * +----------------+--------------+--------------------------------------+
 * |    arena id    |  generation  |       byte offset in the arena       |
 * +----------------+--------------+--------------------------------------+
 * </pre>
 *
 * 0 is null. The generation is the low 8 bits of the generation of the run that holds the object. It reveals Refs into
 * a scope that was closed or reset, even when the same pages are in use again. The call path works on the raw {@code
 * long} ({@link #bits()}) through the static functions. This record is for users and for fields of shared types.
 *
 * @param bits the pointer; 0 is null
 * @param <T> the shared type that it points to
 */
@SuppressWarnings("UnusedTypeParameter") // T lets the user's compiler tell Refs to different types apart
public record Ref<T>(long bits) {
    public static final long NULL = 0L;
    public static final int OFFSET_BITS = 40;
    public static final int GENERATION_BITS = 8;
    /** Largest byte offset that fits a Ref: arenas hold at most 1 TiB. */
    public static final long MAX_OFFSET = (1L << OFFSET_BITS) - 1;

    private static final Ref<?> NULL_REF = new Ref<>(NULL);

    @SuppressWarnings("unchecked")
    public static <T> Ref<T> nullRef() {
        return (Ref<T>) NULL_REF;
    }

    public static long of(int arenaId, int generation, long offset) {
        return ((long) arenaId << (OFFSET_BITS + GENERATION_BITS))
                | ((long) (generation & 0xff) << OFFSET_BITS)
                | offset;
    }

    public static int arenaId(long bits) {
        return (int) (bits >>> (OFFSET_BITS + GENERATION_BITS));
    }

    public static int generation(long bits) {
        return (int) (bits >>> OFFSET_BITS) & 0xff;
    }

    public static long offset(long bits) {
        return bits & MAX_OFFSET;
    }

    public boolean isNull() {
        return bits == NULL;
    }

    @Override
    public String toString() {
        return describe(bits);
    }

    public static String describe(long bits) {
        return bits == NULL
                ? "Ref(null)"
                : "Ref(arena " + arenaId(bits) + ", offset 0x" + Long.toHexString(offset(bits)) + ", generation "
                        + generation(bits) + ")";
    }
}
