package dev.rackcall.shm.pool;

import dev.rackcall.shm.os.BootId;
import dev.rackcall.shm.os.file.Mapping;
import dev.rackcall.shm.os.file.SharedFile;

/**
 * Pools on a device, or in any file of fixed length, which is not closed here. The first user creates the pool in
 * place.
 */
final class PoolDevice {
    private PoolDevice() {}

    /** For one host. */
    static Pool ofOneHost(SharedFile file) {
        try (Mapping mapping = file.map()) {
            Participants participants = new Participants(file, mapping.memory());
            // Of several processes that find it blank, one creates the pool. If it is killed meanwhile, the next one
            // creates it.
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

    /** For several hosts. */
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
