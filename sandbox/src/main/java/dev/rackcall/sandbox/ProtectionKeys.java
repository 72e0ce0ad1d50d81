package dev.rackcall.sandbox;

import dev.rackcall.sandbox.os.Guard;
import dev.rackcall.sandbox.os.HardwareKeys;
import dev.rackcall.sandbox.os.MemoryKeys;
import dev.rackcall.sandbox.os.StoreBarrier;
import dev.rackcall.sandbox.os.UnsupportedFeatureException;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * A second barrier for handlers that use native code or {@code Unsafe}: a thread in the sandbox of one region can reach
 * no other region. Entering and leaving a sandbox writes one register. All regions without a key of their own share one
 * key. When a thread enters such a region, the region gets an unused key or the key of the region that was entered
 * longest ago.
 *
 * <p>Only for platform threads: the register belongs to an operating system thread, and virtual threads move between
 * these. A thread that is created inside a sandbox is in no sandbox: the guard opens all regions to it at its first
 * access. Thread-safe; entering a region that has its key allocates nothing.
 */
public final class ProtectionKeys implements AutoCloseable {
    /** The kernel may reserve one of 16, and key 0 belongs to all other memory. */
    private static final int MAX_KEYS = 15;

    private static final long BOUND_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final long PAUSE_NANOS = 20_000;
    private static final int UNCACHED = -1;
    private static final VarHandle PINS;

    static {
        try {
            PINS = MethodHandles.lookup().findVarHandle(Region.class, "pins", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final MemoryKeys keys;
    /** The key of all regions without a key of their own. */
    private final int closedKey;
    /**
     * The keys that regions take in turn. The next two arrays hold each key's region and the time of its last
     * assignment or entry.
     */
    private final int[] cached;

    private final Region[] owners;
    private final long[] entered;
    private final List<Region> regions = new ArrayList<>();
    private final int allDisabled;
    private long clock;
    private boolean closed;

    private ProtectionKeys(MemoryKeys keys, List<Integer> numbers) {
        this.keys = keys;
        this.closedKey = numbers.getFirst();
        this.cached = numbers.stream().skip(1).mapToInt(Integer::intValue).toArray();
        this.owners = new Region[cached.length];
        this.entered = new long[cached.length];
        int used = 0;
        int disabled = 0;
        for (int key : numbers) {
            used |= MemoryKeys.bits(key);
            disabled |= MemoryKeys.disabled(key);
        }
        this.allDisabled = disabled;
        keys.use(used);
    }

    /**
     * Takes all unused keys of this processor.
     *
     * @throws UnsupportedFeatureException if there are fewer than two, or the guard is off
     */
    public static ProtectionKeys open() {
        return open(HardwareKeys.open(), MAX_KEYS);
    }

    /** As {@link #open()}, with other keys, for tests. */
    public static ProtectionKeys open(MemoryKeys keys) {
        return open(keys, MAX_KEYS);
    }

    static ProtectionKeys open(MemoryKeys keys, int most) {
        List<Integer> numbers = new ArrayList<>();
        for (int key = keys.allocate(); key > 0; key = keys.allocate()) {
            numbers.add(key);
            if (numbers.size() == most) {
                break;
            }
        }
        if (numbers.size() < 2) {
            numbers.forEach(keys::free);
            throw new UnsupportedFeatureException(
                    numbers.size() + " protection keys are left, but a sandbox needs two; close other users of keys.");
        }
        return new ProtectionKeys(keys, numbers);
    }

    /** Memory that is closed to every sandbox except its own. */
    public final class Region {
        private final long address;
        private final long bytes;
        private final Optional<Guard.Registration> registration;
        /** Number of threads in this region's sandbox; while there are any, the region keeps its key. {@link #UNCACHED}
         * without a key. */
        @SuppressWarnings("unused") // PINS
        private volatile int pins = UNCACHED;

        private int slot;

        private Region(MemorySegment memory) {
            address = memory.address();
            bytes = memory.byteSize();
            registration = Guard.installed().map(guard -> guard.register(address, bytes));
        }

        /**
         * Runs an action in the sandbox of this region.
         *
         * @throws SandboxException if the action accessed another region; its other effects remain
         */
        public void run(Runnable action) {
            int before = enter();
            try {
                action.run();
                StoreBarrier.now();
            } catch (InternalError e) {
                throw explain(e);
            } finally {
                leave(before);
            }
        }

        /**
         * Explains the JVM's error after a refused access of confined code. Call it before {@link #leave}, in the same
         * thread. The JVM may throw the error late: call {@link StoreBarrier#now} after the confined code.
         *
         * @throws InternalError {@code error} itself, if no refused access caused it
         */
        public SandboxException explain(InternalError error) {
            return violation(error);
        }

        /**
         * Closes all other regions to the calling thread.
         *
         * @return the argument for {@link #leave}
         * @throws IllegalStateException if the thread is virtual, or all keys are in use by running sandboxes for a
         *     second
         */
        public int enter() {
            if (Thread.currentThread().isVirtual()) {
                throw new IllegalStateException(
                        "a virtual thread changes the thread of the system that it runs on, to which protection keys"
                                + " apply; run such handlers on platform threads");
            }
            int users = pins;
            if (users < 0 || !PINS.compareAndSet(this, users, users + 1)) {
                pin();
            }
            return keys.enter(allDisabled & ~MemoryKeys.bits(cached[slot]));
        }

        /** Opens the other regions again. */
        public void leave(int before) {
            keys.leave(before);
            // Release: a thread that takes the key away sees this thread outside the sandbox.
            PINS.getAndAddRelease(this, -1);
        }

        private void pin() {
            long deadline = System.nanoTime() + BOUND_NANOS;
            while (!tryPin(this)) {
                if (deadline - System.nanoTime() <= 0) {
                    throw new IllegalStateException(
                            "all " + cached.length
                                    + " protection keys are in use by running sandboxes; run fewer handlers with native code at once");
                }
                LockSupport.parkNanos(PAUSE_NANOS);
            }
        }

        /** Opens the memory to all threads, before it is unmapped. No thread may be in its sandbox. */
        public void close() {
            remove(this);
            registration.ifPresent(Guard.Registration::close);
        }
    }

    /**
     * Closes memory to all sandboxes except its own.
     *
     * @param memory whole pages, mapped until {@link Region#close}
     */
    public synchronized Region add(MemorySegment memory) {
        if (closed) {
            throw new IllegalStateException("these protection keys are closed");
        }
        Region region = new Region(memory);
        try {
            keys.assign(region.address, region.bytes, closedKey);
        } catch (RuntimeException e) {
            region.registration.ifPresent(Guard.Registration::close);
            throw e;
        }
        regions.add(region);
        return region;
    }

    private synchronized void remove(Region region) {
        if (regions.remove(region)) {
            // Before the assignment, which may fail: otherwise a later eviction would change the key of memory that is
            // mapped there by then.
            if (region.pins != UNCACHED) {
                owners[region.slot] = null;
                region.pins = UNCACHED;
            }
            keys.assign(region.address, region.bytes, 0);
        }
    }

    private synchronized boolean tryPin(Region region) {
        int users = region.pins;
        if (users >= 0) {
            entered[region.slot] = ++clock;
            return PINS.compareAndSet(region, users, users + 1);
        }
        int slot = evict();
        if (slot < 0) {
            return false;
        }
        keys.assign(region.address, region.bytes, cached[slot]);
        owners[slot] = region;
        entered[slot] = ++clock;
        region.slot = slot;
        // The volatile store releases the slot to threads that pin the region.
        region.pins = 1;
        return true;
    }

    /** Returns the index of an unused key, or frees the key of a region without threads, the one entered longest ago.
     * Negative if all regions have threads. */
    private int evict() {
        int oldest = -1;
        for (int i = 0; i < owners.length; i++) {
            if (owners[i] == null) {
                return i;
            }
            if (owners[i].pins == 0 && (oldest < 0 || entered[i] < entered[oldest])) {
                oldest = i;
            }
        }
        if (oldest < 0 || !PINS.compareAndSet(owners[oldest], 0, UNCACHED)) {
            return -1;
        }
        keys.assign(owners[oldest].address, owners[oldest].bytes, closedKey);
        owners[oldest] = null;
        return oldest;
    }

    /**
     * Lets the calling thread reach all regions until {@link #lower}, if it is in a sandbox.
     *
     * @return the argument for {@link #lower}
     */
    public int lift() {
        return keys.enter(0);
    }

    /** Ends the thread's last {@link #lift}. */
    public void lower(int before) {
        keys.leave(before);
    }

    private static SandboxException violation(InternalError error) {
        String where = Guard.installed()
                .map(guard -> guard.takeFault())
                .filter(address -> address.isPresent())
                .map(address -> " at 0x" + Long.toHexString(address.getAsLong()))
                .orElseThrow(() -> error);
        IsolationEvents.violation(
                IsolationEvents.Violation.PROTECTION_KEY, Thread.currentThread().getName(), where);
        SandboxException violation =
                new SandboxException("the call accessed memory" + where + " that a protection key closes to it");
        violation.initCause(error);
        return violation;
    }

    /** Number of regions that can have a key of their own at once. */
    public int size() {
        return cached.length;
    }

    /** Opens all regions and frees the keys. No thread may be in a sandbox. Idempotent. */
    @Override
    public synchronized void close() {
        if (!closed) {
            closed = true;
            List.copyOf(regions).forEach(Region::close);
            for (int key : cached) {
                keys.free(key);
            }
            keys.free(closedKey);
        }
    }
}
