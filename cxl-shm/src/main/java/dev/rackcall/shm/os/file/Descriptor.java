package dev.rackcall.shm.os.file;

import dev.rackcall.shm.os.CallState;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * A file descriptor that several threads use while one may close it. The number goes back to the kernel only when the last user has
 * left: otherwise a byte meant for this file could reach a stranger that was given the same number.
 */
public final class Descriptor {
    private static final int CLOSED = Integer.MIN_VALUE;
    private static final VarHandle USERS;

    static {
        try {
            USERS = MethodHandles.lookup().findVarHandle(Descriptor.class, "users", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final int fd;
    private final String name;
    /** Sign bit: closed. The other bits: threads between {@link #enter} and {@link #exit}. */
    @SuppressWarnings("unused")
    private volatile int users;

    /** Takes over an open descriptor. */
    public Descriptor(int fd, String name) {
        this.fd = fd;
        this.name = name;
    }

    /** The number; only valid between {@link #tryEnter} and {@link #exit}, or while the owner has not closed it. */
    public int fd() {
        return fd;
    }

    /** As {@link #enter}; false if it is closed. */
    public boolean tryEnter() {
        while (true) {
            int seen = users;
            if (seen < 0) {
                return false;
            }
            if (USERS.compareAndSet(this, seen, seen + 1)) {
                return true;
            }
        }
    }

    /** From here to {@link #exit} the number stays this file's. */
    public void enter() {
        if (!tryEnter()) {
            throw new IllegalStateException(name + " is closed");
        }
    }

    public void exit() {
        if ((int) USERS.getAndAdd(this, -1) - 1 == CLOSED) {
            closeNow();
        }
    }

    public boolean isClosed() {
        return users < 0;
    }

    /** Whether this call was the first to close it. */
    public boolean close() {
        int before = (int) USERS.getAndBitwiseOr(this, CLOSED);
        if (before == 0) {
            closeNow();
        }
        return before >= 0;
    }

    private void closeNow() {
        close(fd);
    }

    /** After an error of close(2) the number is gone all the same, so there is nothing to judge. */
    public static void close(int fd) {
        LibcFiles.close(CallState.current().errnoSegment(), fd);
    }
}
