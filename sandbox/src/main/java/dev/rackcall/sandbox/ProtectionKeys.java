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
 * A second wall for handlers that use native code or {@code Unsafe}: while a thread is in the sandbox of one region, it can reach no other region. Entering
 * and leaving writes a register. Regions outnumber the processor's keys: one key is for all regions that have none of their own, the others go to
 * regions as they are entered, and are taken from the one that was entered longest ago.
 *
 * <p>Only threads of the platform: the register belongs to the thread of the system, which virtual threads change. A thread that is made inside a
 * sandbox is in none: the guard opens all regions to it when it first reaches for one. Thread-safe; entering a region that has its key allocates nothing.
 */
public final class ProtectionKeys implements AutoCloseable {
    /** The kernel may keep one of 16 for itself, and key 0 is everybody's. */
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
    /** Of regions without a key of their own. */
    private final int closedKey;
    /** Which region has a key, and when it got it or was last given it anew. */
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
     * Takes all keys that this processor has left.
     *
     * @throws UnsupportedFeatureException if there are fewer than two, or the guard is off
     */
    public static ProtectionKeys open() {
        return open(HardwareKeys.open(), MAX_KEYS);
    }

    /** As {@link #open()}, of keys that somebody else provides: for tests of what uses them. */
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

    /** Memory that is closed to every sandbox but its own. */
    public final class Region {
        private final long address;
        private final long bytes;
        private final Optional<Guard.Registration> registration;
        /** Threads in the sandbox of this region, which keep it its key; {@link #UNCACHED}: it has none. */
        @SuppressWarnings("unused") // PINS
        private volatile int pins = UNCACHED;

        private int slot;

        private Region(MemorySegment memory) {
            address = memory.address();
            bytes = memory.byteSize();
            registration = Guard.installed().map(guard -> guard.register(address, bytes));
        }

        /**
         * Runs in the sandbox of this region.
         *
         * @throws SandboxException if something in there reached for another region; what it did before and after stays done
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
         * What the JVM's error means that came out of code which {@link #enter} has confined: to be called before {@link #leave}, in the same thread. The error
         * may come late: {@link StoreBarrier#now} behind that code brings it.
         *
         * @throws InternalError the same, if no refused access is behind it
         */
        public SandboxException explain(InternalError error) {
            return violation(error);
        }

        /**
         * Closes all other regions to the calling thread.
         *
         * @return what {@link #leave} needs
         * @throws IllegalStateException if the thread is virtual, or all keys are in use by running sandboxes for a second
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

        /** Opens them again. */
        public void leave(int before) {
            keys.leave(before);
            // Release: whoever takes the key away sees this thread out of it.
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

        /** Opens the memory to everybody, before it is unmapped. Nobody is in its sandbox. */
        public void close() {
            remove(this);
            registration.ifPresent(Guard.Registration::close);
        }
    }

    /**
     * Closes memory to all sandboxes but its own.
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
            // First, since what follows may fail: nobody is to take the key from an address that is somebody else's by
            // then.
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
        // Release by the volatile store: who pins it sees its slot.
        region.pins = 1;
        return true;
    }

    /** A key that nobody has, or that was given longest ago to a region in whose sandbox nobody is; negative: none. */
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
     * Lets the calling thread reach all regions for a while, if it is in the sandbox of one.
     *
     * @return what {@link #lower} needs
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
                new SandboxException("memory" + where + " was reached for, which a protection key closes to this call");
        violation.initCause(error);
        return violation;
    }

    /** How many regions can have a key of their own at once. */
    public int size() {
        return cached.length;
    }

    /** Opens all regions and gives the keys back. Nobody is in a sandbox. Idempotent. */
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
