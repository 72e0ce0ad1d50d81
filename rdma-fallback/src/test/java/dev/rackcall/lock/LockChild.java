package dev.rackcall.lock;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * A process that takes locks until it is killed, or until its input ends. With the lock it appends its number to a list
 * that the lock guards. Arguments: the file; then local, or remote or finished (without waiting for unlocks) and the
 * owner that was claimed for it.
 */
final class LockChild {
    /** Behind the lock table: the number of entries, then the entries. */
    static final long LIST_BYTES = 8L * 16_000_000;

    static final int DESCRIPTORS = 16;
    static final long COUNT_AT = LockTable.bytes(DESCRIPTORS, 1);
    static final long ENTRIES_AT = COUNT_AT + Long.BYTES;

    private static final long PAUSE_NANOS = 50_000;

    private LockChild() {}

    static MemorySegment map(Path file) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            return channel.map(FileChannel.MapMode.READ_WRITE, 0, COUNT_AT + LIST_BYTES, Arena.global());
        }
    }

    public static void main(String[] arguments) throws IOException, InterruptedException {
        Path file = Path.of(arguments[0]);
        BufferedReader orders = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        LockWords words;
        LockSession session;
        boolean finished = arguments[1].equals("finished");
        if (finished || arguments[1].equals("remote")) {
            LockEnd end = LockEnd.stranger();
            System.out.println(end.describe());
            end.connectTo(orders.readLine());
            words = new RdmaWords(end.link());
            long owner = Long.parseLong(arguments[2]);
            session = finished
                    ? LockTable.remoteSession(end.link().withFinisher(LockFinisher.start()), owner)
                    : LockTable.remoteSession(end.link(), owner);
        } else {
            // The kernel releases its locks when this process ends; other processes see that.
            LockOwners owners = LockOwners.of(file);
            long owner = owners.claim();
            System.out.println(owner);
            MemorySegment memory = map(file);
            words = new ProcessorWords(memory);
            session = LockTable.attach(memory).localSession(owner);
        }
        work(session.lock(0), words, session.owner(), orders);
        session.close();
    }

    private static void work(ALock lock, LockWords words, long owner, BufferedReader orders)
            throws IOException, InterruptedException {
        Random random = new Random(owner);
        long mine = 0;
        while (!orders.ready()) {
            if (random.nextInt(4) == 0) {
                if (!lock.tryLock(random.nextInt(300), TimeUnit.MICROSECONDS)) {
                    continue;
                }
            } else {
                lock.lock();
            }
            long count = words.load(COUNT_AT);
            words.store(ENTRIES_AT + Long.BYTES * count, owner);
            words.store(COUNT_AT, count + 1);
            // On the lock's own queue pair, so it arrives before the next holder looks.
            words.flush();
            lock.unlock();
            mine++;
            if (random.nextBoolean()) {
                // The list is long, but not endless.
                LockSupport.parkNanos(PAUSE_NANOS);
            }
        }
        System.out.println(mine);
    }
}
