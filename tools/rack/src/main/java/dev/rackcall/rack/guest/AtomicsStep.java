package dev.rackcall.rack.guest;

import dev.rackcall.shm.os.file.Mapping;
import dev.rackcall.shm.os.file.SharedFile;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/**
 * Two kernels count on one word. The words lie at the end of the device and are 0 again afterwards, since a pool is
 * made there later.
 */
final class AtomicsStep implements Guest.Work {
    private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();
    private static final long TIMES = 1_000_000;
    private static final long COUNT = 0;
    /** On cache lines of their own. */
    private static final long READY = 128;

    private static final long AREA = 4096;

    @Override
    public String run(Guest guest) {
        Step step = Step.ATOMICS;
        try (SharedFile device = SharedFile.openDax(Guest.DEVICE);
                Mapping mapping = device.map()) {
            Guest.require(device.kind() == SharedFile.Kind.DAX, "the kind of the device is " + device.kind());
            Guest.require(
                    device.pageBytes() == 2 << 20, "the device is aligned to " + device.pageBytes() + ", not 2 MiB");
            Guest.require(mapping.memory().address() % (2 << 20) == 0, "its mapping is not aligned to 2 MiB");
            MemorySegment words = mapping.memory().asSlice(device.bytes() - AREA);
            guest.meet(step, "mapped");
            // Both begin at the same moment, so that they contend for the word.
            LONG.getAndAdd(words, READY, 1L);
            Guest.await("the partner does not begin", () -> (long) LONG.getVolatile(words, READY) == 2);
            long lost = count(words);
            guest.meet(step, "counted");
            long sum = (long) LONG.getVolatile(words, COUNT);
            guest.meet(step, "read");
            if (guest.is("A")) {
                words.fill((byte) 0);
            }
            guest.meet(step, "cleared");
            Guest.require(
                    sum == 2 * TIMES,
                    "2 x " + TIMES + " increments gave " + sum
                            + ": this QEMU's atomic operations are not atomic across guests");
            return "2 x " + TIMES + " increments, all there; " + lost + " of mine had to be tried again";
        }
    }

    private static long count(MemorySegment words) {
        long lost = 0;
        for (long i = 0; i < TIMES; i++) {
            long seen = (long) LONG.getVolatile(words, COUNT);
            while (!LONG.compareAndSet(words, COUNT, seen, seen + 1)) {
                lost++;
                seen = (long) LONG.getVolatile(words, COUNT);
            }
        }
        return lost;
    }
}
