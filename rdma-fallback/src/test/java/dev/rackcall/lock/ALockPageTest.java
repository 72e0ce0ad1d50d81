package dev.rackcall.lock;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the page on ALock shows. */
class ALockPageTest extends LockFixture {
    @TempDir
    private Path folder;

    private int guarded;

    ALockPageTest() {
        super(64, 1000, true);
    }

    @Test
    void shouldLockByMemory() throws Exception {
        Path path = Files.createFile(folder.resolve("owners"));
        RemoteTable loopback = home.newLoopback();
        memory.fill((byte) 0);
        // 64 descriptors each for local and for remote threads, and 1,000 locks. The memory is zero, aligned to 64
        // bytes, and registered for remote threads.
        LockTable table = LockTable.create(memory, 64, 1000);
        LockOwners owners = LockOwners.of(path); // in each process; the table's own file will do
        try (LockSession session = table.localSession(owners.claim())) { // or LockTable.remoteSession(remote, owner)
            ALock lock = session.lock(17); // a java.util.concurrent.locks.Lock of this thread
            if (lock.tryLock(5, TimeUnit.SECONDS)) {
                try {
                    guarded++;
                } finally {
                    lock.unlock();
                }
            }
        }

        // One for each table, at its host.
        LockKeeper keeper = table.keeper(loopback, owners.claim(), owners::isDead);
        keeper.recover(owners::isDead); // about once a second, even if no owner has died
        assertThat(guarded).isEqualTo(1);
        keeper.close();
        owners.close();
    }

    @Test
    void shouldLockByRdmaAndRead() throws Exception {
        RemoteTable link = home.newLink();
        RemoteTable peer = waiters.newLink();
        LockFinisher finisher = LockFinisher.start();
        LockPeers peers = LockPeers.create().add(2, peer.queuePair(), peer.completions()); // nodes of other waiters
        RemoteTable remote = new RemoteTable(
                        link.queuePair(), link.completions(), link.scratch(), link.address(), link.key())
                .withBell(new LockBell(1, waiters.region(), 0), peers) // waits at a word of its own memory
                .withFinisher(finisher); // does not wait for its unlocks; one finisher for a process
        LockSession session = LockTable.remoteSession(remote, 1);
        ALock lock = session.lock(17);
        lock.lock();
        try {
            guarded++;
        } finally {
            lock.unlock();
        }
        assertThat(guarded).isEqualTo(1);
        session.close();

        memory.fill((byte) 0);
        LockTable shared = LockTable.createWithReaders(memory, 64, 1000);
        ALockReader reading = shared.localSession(1).readLock(17); // a Lock, too
        assertThat(reading.tryLock(5, TimeUnit.SECONDS)).isTrue();
        reading.unlock();
        finisher.close();
    }
}
