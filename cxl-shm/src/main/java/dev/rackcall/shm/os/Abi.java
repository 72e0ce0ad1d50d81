package dev.rackcall.shm.os;

/**
 * Numbers that Linux defines per processor architecture.
 *
 * @param noFollowFlag {@code O_NOFOLLOW}
 * @param directoryFlag {@code O_DIRECTORY}
 * @param futex number of the futex system call
 * @param userfaultfd number of the userfaultfd system call
 * @param pkeyAlloc number of the pkey_alloc system call
 * @param pkeyFree number of the pkey_free system call
 * @param epollEventBytes size of struct epoll_event, which is packed on x86-64 only
 */
public record Abi(
        int noFollowFlag,
        int directoryFlag,
        long futex,
        long userfaultfd,
        long pkeyAlloc,
        long pkeyFree,
        int epollEventBytes) {
    /** System calls added since Linux 5.1 have the same number on every architecture. */
    public static final long SYS_EPOLL_PWAIT2 = 441;

    public static final long SYS_MSEAL = 462;

    private static final Abi CURRENT = forArchitecture(System.getProperty("os.arch"));

    /** The numbers of this processor's architecture. */
    public static Abi current() {
        return CURRENT;
    }

    static Abi forArchitecture(String architecture) {
        return switch (architecture) {
            case "amd64", "x86_64" -> new Abi(0x20000, 0x10000, 202, 323, 330, 331, 12);
            case "aarch64" -> new Abi(0x8000, 0x4000, 98, 282, 289, 290, 16);
            default ->
                throw new UnsupportedOperationException("Rackcall runs on Linux x86-64 and aarch64, not on "
                        + architecture + "; use a JVM of one of these");
        };
    }
}
