package dev.rackcall.verbs.soft.memory;

/** All memory regions of a device, by key, and the lock that serializes atomics on them. */
public final class DeviceMemory {
    public static final int MAX_REGIONS = 1 << 16;

    private final KeyTable<SoftMemoryRegion> regions = new KeyTable<>(MAX_REGIONS, Integer.SIZE);
    private final Runnable insideAtomics;

    /** @param insideAtomics runs in each atomic between its load and its store */
    public DeviceMemory(Runnable insideAtomics) {
        this.insideAtomics = insideAtomics;
    }

    KeyTable<SoftMemoryRegion> regions() {
        return regions;
    }

    void insideAtomic() {
        insideAtomics.run();
    }
}
