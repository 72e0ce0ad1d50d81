package dev.rackcall.sandbox;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.rackcall.sandbox.ProtectionKeys.Region;
import dev.rackcall.shm.os.file.Mapping;
import dev.rackcall.shm.os.file.SharedFile;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/**
 * Main of a child, where the processor has protection keys: reaches out of sandboxes, runs threads that are in none, and
 * then enters and leaves a sandbox as often as its argument says.
 */
final class KeyProbe {
    private static final int REGIONS = 32;
    private static final long BYTES = 16 * 4096;

    private KeyProbe() {}

    public static void main(String[] arguments) throws Exception {
        Thread older = Thread.ofPlatform().unstarted(() -> {});
        try (SharedFile file = SharedFile.memfd("key-probe", BYTES);
                ProtectionKeys keys = ProtectionKeys.open()) {
            file.reserve(0, BYTES);
            List<Mapping> mappings = new ArrayList<>();
            List<Region> regions = new ArrayList<>();
            for (int i = 0; i < REGIONS; i++) {
                mappings.add(file.map());
                regions.add(keys.add(mappings.get(i).memory()));
            }
            System.out.println(keys.size() + " keys");
            older.start();
            older.join();
            for (int i = 0; i < REGIONS; i++) {
                MemorySegment mine = mappings.get(i).memory();
                MemorySegment other = mappings.get((i + 1) % REGIONS).memory();
                regions.get(i).run(() -> mine.set(JAVA_LONG, 8, 1));
                refused(regions.get(i), () -> other.get(JAVA_LONG, 0), "a load");
                refused(regions.get(i), () -> other.set(JAVA_LONG, 0, 1), "a store");
                refused(regions.get(i), () -> other.fill((byte) 1), "a fill");
                refused(
                        regions.get(i),
                        () -> MemorySegment.copy(new byte[5000], 0, other, JAVA_BYTE, 0, 5000),
                        "a copy");
                // Outside of sandboxes all of it is open, in this thread and in others.
                other.set(JAVA_LONG, 0, 0);
                Thread thread = Thread.ofPlatform().start(() -> other.set(JAVA_LONG, 16, 7));
                thread.join();
                if (other.get(JAVA_LONG, 16) != 7 || mine.get(JAVA_LONG, 8) == 0) {
                    throw new AssertionError("a store outside of sandboxes was lost");
                }
            }
            int rounds = Integer.parseInt(arguments[0]);
            for (int i = 0; i < rounds; i++) {
                Region region = regions.get(0);
                region.leave(region.enter());
            }
        }
        System.out.println("all went well");
    }

    private static void refused(Region region, Runnable access, String what) {
        try {
            region.run(access);
        } catch (SandboxException e) {
            return;
        }
        throw new AssertionError(what + " was not refused");
    }
}
