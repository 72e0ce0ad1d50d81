package dev.rackcall.shm.pool;

import dev.rackcall.shm.os.BootId;
import dev.rackcall.shm.os.file.Mapping;
import dev.rackcall.shm.os.file.SharedFile;

/** Pools on a device, or in any file of a length that stays, which is not closed here. Whoever comes first makes the pool in place. */
final class PoolDevice {
    private PoolDevice() {}

    /** Of one host. */
    static Pool ofOneHost(SharedFile file) {
        try (Mapping mapping = file.map()) {
            Participants participants = new Participants(file, mapping.memory());
            // Of several that find it blank one makes the pool; of one that is killed meanwhile another makes it anew.
            participants.requireGate();
            try {
                if (PoolLayout.isUnmade(mapping.memory())) {
                    return PoolMaker.createInPlace(file, memory -> new Participants(file, memory));
                }
            } finally {
                participants.openGate();
            }
        }
        return PoolJoiner.join(file);
    }

    /** Of several. */
    static Pool ofHost(SharedFile file, int host, BootId boot) {
        PoolHosts.checked(host);
        try (Mapping mapping = file.map()) {
            if (PoolHosts.mustMake(mapping.memory(), host, file)) {
                PoolLayout.sharedByHosts(mapping.memory());
                PoolLayout.takeHost(mapping.memory(), host, boot.bits());
                return PoolMaker.createInPlace(file, memory -> PoolHosts.participants(file, memory, host))
                        .withCommons(host, boot);
            }
        }
        Mapping mapping = PoolJoiner.mapPool(file);
        return OnFailure.close(mapping, () -> {
            PoolHosts.enter(mapping.memory(), host, boot, file);
            return PoolJoiner.join(file, mapping, PoolHosts.participants(file, mapping.memory(), host))
                    .withCommons(host, boot);
        });
    }
}
