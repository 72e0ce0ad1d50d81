package dev.rackcall.cp.table;

import dev.rackcall.verbs.Gid;
import java.util.Random;

/** Records of hosts that do not exist. */
public final class HostRecords {
    private HostRecords() {}

    public static HostRecord record(int seed) {
        Random random = new Random(seed);
        TableLocation table = new TableLocation(random.nextLong(), random.nextInt(), 1 + random.nextInt(24), seed);
        return new HostRecord(
                new Gid(random.nextLong(), random.nextLong()),
                random.nextInt(1 << 24),
                random.nextInt(),
                random.nextInt(1 << 24),
                table);
    }
}
