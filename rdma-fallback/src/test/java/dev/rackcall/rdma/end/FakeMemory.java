package dev.rackcall.rdma.end;

import dev.rackcall.shm.os.file.Mapping;
import dev.rackcall.shm.os.file.SharedFile;
import dev.rackcall.verbs.MemoryRegion;
import java.lang.foreign.MemorySegment;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

/** Memory that no device knows. */
final class FakeMemory extends EndMemory {
    private final AtomicInteger registered = new AtomicInteger();
    private final MemoryRegion region;
    private volatile Optional<CountDownLatch> until = Optional.empty();
    private final CountDownLatch begun = new CountDownLatch(1);
    private volatile Optional<RuntimeException> refusal = Optional.empty();

    private record Region(MemorySegment memory) implements MemoryRegion {
        @Override
        public long address() {
            return memory.address();
        }

        @Override
        public long byteSize() {
            return memory.byteSize();
        }

        @Override
        public int localKey() {
            return 1;
        }

        @Override
        public int remoteKey() {
            return 2;
        }

        @Override
        public void close() {}
    }

    FakeMemory(long bytes) {
        try (SharedFile file = SharedFile.memfd("fake", bytes)) {
            region = map(file);
        }
    }

    private Region map(SharedFile file) {
        Mapping mapping = file.map();
        keep(mapping);
        return new Region(mapping.memory());
    }

    /** Lets registrations wait for {@code over}; returns a latch that is counted down when one begins. */
    CountDownLatch hold(CountDownLatch over) {
        until = Optional.of(over);
        return begun;
    }

    void refuse(RuntimeException cause) {
        refusal = Optional.of(cause);
    }

    int registered() {
        return registered.get();
    }

    @Override
    public MemoryRegion region() {
        return region;
    }

    @Override
    public MemoryRegion own(SharedFile file) {
        begun.countDown();
        until.ifPresent(FakeMemory::await);
        if (refusal.isPresent()) {
            throw refusal.get();
        }
        registered.incrementAndGet();
        return map(file);
    }

    private static void await(CountDownLatch over) {
        try {
            over.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
