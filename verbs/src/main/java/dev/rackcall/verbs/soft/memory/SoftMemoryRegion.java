package dev.rackcall.verbs.soft.memory;

import dev.rackcall.verbs.Access;
import dev.rackcall.verbs.MemoryRegion;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Registered memory. Threads that access it enter and exit, so {@link #close} returns only when no thread touches the
 * memory any more.
 */
final class SoftMemoryRegion implements MemoryRegion {
    private static final int CLOSED = Integer.MIN_VALUE;
    private static final VarHandle USERS;
    private static final VarHandle WORD = ValueLayout.JAVA_LONG.varHandle();

    static {
        try {
            USERS = MethodHandles.lookup().findVarHandle(SoftMemoryRegion.class, "users", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final DomainMemory domain;
    private final MemorySegment memory;
    private final long address;
    private final long bytes;
    private final int rights;
    private final int key;
    /** Sign bit: closed. The other bits: threads between {@link #enter} and {@link #exit}. */
    @SuppressWarnings("unused")
    private volatile int users;

    SoftMemoryRegion(DomainMemory domain, MemorySegment memory, int rights, int key) {
        this.domain = domain;
        this.memory = memory;
        this.address = memory.address();
        this.bytes = memory.byteSize();
        this.rights = rights;
        this.key = key;
    }

    @Override
    public MemorySegment memory() {
        return memory;
    }

    @Override
    public long address() {
        return address;
    }

    @Override
    public long byteSize() {
        return bytes;
    }

    @Override
    public int localKey() {
        return key;
    }

    @Override
    public int remoteKey() {
        return key;
    }

    /** Whether queue pairs of the domain {@code asker} have this right to this range. Right 0 is local reading. */
    boolean allows(DomainMemory asker, long from, long length, int right) {
        long offset = from - address;
        return asker == domain
                && (rights & right) == right
                && offset >= 0
                && offset <= bytes
                && length <= bytes - offset;
    }

    /** Returns false if the region is closed; otherwise call {@link #exit} afterwards. */
    boolean enter() {
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

    void exit() {
        USERS.getAndAdd(this, -1);
    }

    /**
     * Stores the last aligned word last and with release. A thread that polls that word with acquire then sees all
     * other bytes.
     *
     * @throws InternalError if part of the range has no memory behind it; the other accesses throw it, too
     */
    void store(MemorySegment from, long at, long to, long length) {
        long offset = to - address;
        long end = to + length;
        if (length < Long.BYTES || (end & 7) != 0) {
            MemorySegment.copy(from, at, memory, offset, length);
            VarHandle.releaseFence();
            AccessBarrier.await();
            return;
        }
        long last = length - Long.BYTES;
        MemorySegment.copy(from, at, memory, offset, last);
        WORD.setRelease(memory, offset + last, from.get(ValueLayout.JAVA_LONG_UNALIGNED, at + last));
        AccessBarrier.await();
    }

    void load(long from, MemorySegment to, long at, long length) {
        // A READ loads only after earlier WRITEs and atomics of its queue pair have stored: Dekker's and Peterson's
        // algorithms rely on that order.
        VarHandle.fullFence();
        MemorySegment.copy(memory, from - address, to, at, length);
        AccessBarrier.await();
    }

    /** The caller holds the device's lock, which the processor's own atomics do not take. */
    long compareAndSwap(long at, long expected, long desired) {
        long old = (long) WORD.getAcquire(memory, at - address);
        domain.insideAtomic();
        if (old == expected) {
            WORD.setRelease(memory, at - address, desired);
        }
        AccessBarrier.await();
        return old;
    }

    /** As {@link #compareAndSwap}. */
    long fetchAndAdd(long at, long addend) {
        long old = (long) WORD.getAcquire(memory, at - address);
        domain.insideAtomic();
        WORD.setRelease(memory, at - address, old + addend);
        AccessBarrier.await();
        return old;
    }

    @Override
    public void close() {
        int before = (int) USERS.getAndBitwiseOr(this, CLOSED);
        if (before < 0) {
            return;
        }
        domain.closed(this);
        // An access copies one frame at most, so this ends within microseconds.
        while (users != CLOSED) {
            Thread.onSpinWait();
        }
    }

    @Override
    public String toString() {
        return "memory region " + Long.toHexString(address) + "+" + bytes + " key " + Integer.toHexString(key)
                + " rights " + describe(rights);
    }

    private static String describe(int rights) {
        StringBuilder text = new StringBuilder();
        for (Access right : Access.values()) {
            if ((rights & right.bit()) != 0) {
                text.append(text.isEmpty() ? "" : "|").append(right);
            }
        }
        return text.isEmpty() ? "LOCAL_READ" : text.toString();
    }
}
