package dev.rackcall.rpc.shm.server;

/** The arena numbers of this process: they are reused after some 30,000 connections, or at once. */
public final class ArenaNumbers {
    private static final int ALL = 1 << 16;

    private ArenaNumbers() {}

    /** Gives the next connection's first arena this number; false if it is not free yet. */
    public static boolean passTo(int number) {
        int last = before(number);
        if (last >= 0) {
            useUpTo(last);
        }
        return last >= 0;
    }

    /** The free number that is given before that one; negative if it is not given. */
    private static int before(int number) {
        int last = next();
        for (int i = 0; i < 2 * ALL; i++) {
            int id = next();
            if (id == number) {
                return last;
            }
            last = id;
        }
        return -1;
    }

    private static void useUpTo(int last) {
        int id = next();
        for (int i = 0; i < ALL && id != last; i++) {
            id = next();
        }
    }

    private static int next() {
        int id = ArenaIds.shared().take();
        ArenaIds.shared().give(id);
        return id;
    }
}
