package dev.rackcall.rack.guest;

import dev.rackcall.sandbox.ProtectionKeys;
import dev.rackcall.shm.os.file.Mapping;
import dev.rackcall.shm.os.file.SharedFile;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Tests of protection keys on QEMU's processor, which has them. Most machines that build this project have none and
 * skip these tests.
 */
final class KeysStep implements Guest.Work {
    private static final long PAGE = 4096;
    /** More than there are keys. */
    private static final int MANY_REGIONS = 32;

    private static final int TIMES = 20_000;

    @Override
    public String run(Guest guest) throws Exception {
        String counts = SuiteStep.KEYS.run(guest);
        return String.format(
                Locale.ROOT,
                "%s; entering and leaving, emulated: %d ns with a key, %d ns if it must be obtained first",
                counts,
                nanos(1),
                nanos(MANY_REGIONS));
    }

    /** Nanoseconds to enter and leave one region, or many in turn; from the second of two runs. */
    private static long nanos(int count) {
        List<Mapping> mappings = new ArrayList<>();
        try (SharedFile file = SharedFile.memfd("rack-keys", PAGE);
                ProtectionKeys keys = ProtectionKeys.open()) {
            file.reserve(0, PAGE);
            List<ProtectionKeys.Region> regions = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                mappings.add(file.map());
                regions.add(keys.add(mappings.getLast().memory()));
            }
            take(regions);
            long begin = System.nanoTime();
            take(regions);
            return (System.nanoTime() - begin) / TIMES;
        } finally {
            mappings.forEach(Mapping::close);
        }
    }

    private static void take(List<ProtectionKeys.Region> regions) {
        for (int i = 0; i < TIMES; i++) {
            ProtectionKeys.Region region = regions.get(i % regions.size());
            region.leave(region.enter());
        }
    }
}
