package dev.rackcall.shm.os.file;

import dev.rackcall.shm.os.CallState;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * A file descriptor that one thread may close while others use it. The kernel gets the number back only after the last
 * use. Otherwise a write could reach another file that was given the same number.
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

    /** As {@link #enter}, but returns false if it is closed. */
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

    /** Keeps the number open until {@link #exit}. */
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

    /** Errors are ignored: even after one, close(2) has released the number. */
    public static void close(int fd) {
        LibcFiles.close(CallState.current().errnoSegment(), fd);
    }
}
