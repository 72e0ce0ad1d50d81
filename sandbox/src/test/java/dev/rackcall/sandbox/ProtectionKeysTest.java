package dev.rackcall.sandbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.rackcall.sandbox.ProtectionKeys.Region;
import dev.rackcall.sandbox.os.HardwareKeys;
import dev.rackcall.sandbox.os.MemoryKeys;
import dev.rackcall.sandbox.os.UnsupportedFeatureException;
import dev.rackcall.shm.os.OsException;
import dev.rackcall.testkit.ChildJvm;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The assignment of keys to regions: with fake keys, and with the processor's own if it has them. */
class ProtectionKeysTest {
    private static final int KEYS = 5;
    private static final long PAGE = 4096;

    @TempDir
    private Path folder;

    private final FakeKeys fake = new FakeKeys();

    /** Remembers the key of each page and the register of each thread. */
    private static final class FakeKeys implements MemoryKeys {
        private final BitSet free = new BitSet();
        private final Map<Long, Integer> ofAddress = new HashMap<>();
        private int used;
        private boolean refuses;
        private int assignments;
        private final ThreadLocal<Integer> register = ThreadLocal.withInitial(() -> 0);

        FakeKeys() {
            free.set(1, 1 + KEYS);
        }

        @Override
        public int allocate() {
            int key = free.nextSetBit(0);
            if (key > 0) {
                free.clear(key);
            }
            return key;
        }

        @Override
        public void free(int key) {
            assertThat(ofAddress.values()).doesNotContain(key);
            assertThat(free.get(key)).isFalse();
            free.set(key);
        }

        @Override
        public synchronized void assign(long address, long bytes, int key) {
            if (refuses) {
                throw new OsException("pkey_mprotect", 12);
            }
            assignments++;
            ofAddress.put(address, key);
        }

        @Override
        public void use(int bits) {
            used = bits;
        }

        @Override
        public int enter(int closed) {
            assertThat(closed & ~used).isZero();
            int before = register.get();
            register.set(closed);
            return before;
        }

        @Override
        public void leave(int before) {
            register.set(before);
        }

        synchronized boolean canReach(long address) {
            int key = ofAddress.getOrDefault(address, 0);
            return (register.get() & MemoryKeys.disabled(key)) == 0;
        }
    }

    private static List<Region> regions(ProtectionKeys keys, int count) {
        List<Region> regions = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            regions.add(keys.add(at(i)));
        }
        return regions;
    }

    private static MemorySegment at(int region) {
        return MemorySegment.ofAddress((region + 1) * PAGE).reinterpret(PAGE);
    }

    @Test
    void shouldOpenOneRegionAndCloseAllOthers() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        ProtectionKeys keys = ProtectionKeys.open(fake, 15);
        assertThat(keys.size()).isEqualTo(KEYS - 1);
        List<Region> regions = regions(keys, 32);
        for (int round = 0; round < 2_000; round++) {
            int which = random.nextInt(regions.size());
            regions.get(which).run(() -> {
                for (int i = 0; i < regions.size(); i++) {
                    assertThat(fake.canReach(at(i).address()))
                            .as("seed %d", seed)
                            .isEqualTo(i == which);
                }
            });
            assertThat(fake.canReach(at(random.nextInt(regions.size())).address()))
                    .isTrue();
        }
        keys.close();
        assertThat(fake.free.cardinality()).isEqualTo(KEYS);
        assertThat(fake.ofAddress.values()).containsOnly(0);
    }

    @Test
    void shouldForgetARegionThatTheKernelDidNotTakeOrLetGo() {
        ProtectionKeys keys = ProtectionKeys.open(fake, 15);
        List<Region> regions = regions(keys, 1);
        regions.getFirst().run(() -> {});
        fake.refuses = true;
        assertThatThrownBy(() -> keys.add(at(7))).isInstanceOf(OsException.class);
        assertThatThrownBy(() -> regions.getFirst().close()).isInstanceOf(OsException.class);
        fake.refuses = false;
        // The address belongs to other memory by now.
        fake.ofAddress.put(at(0).address(), 0);

        List<Region> others = new ArrayList<>();
        for (int i = 1; i <= 2 * KEYS; i++) {
            others.add(keys.add(at(i)));
        }
        others.forEach(region -> region.run(() -> {}));
        assertThat(fake.ofAddress).containsEntry(at(0).address(), 0);
        keys.close();
        assertThat(fake.ofAddress.values()).containsOnly(0);
    }

    @Test
    void shouldChangeNoPagesForARegionThatHasItsKey() {
        try (ProtectionKeys keys = ProtectionKeys.open(fake, 15)) {
            List<Region> regions = regions(keys, KEYS - 1);
            regions.forEach(region -> region.run(() -> {}));
            int before = fake.assignments;
            for (int i = 0; i < 100; i++) {
                regions.get(i % regions.size()).run(() -> {});
            }
            assertThat(fake.assignments).isEqualTo(before);
        }
    }

    @Test
    void shouldNotTakeAKeyFromARunningSandbox() throws InterruptedException {
        try (ProtectionKeys keys = ProtectionKeys.open(fake, 15)) {
            List<Region> regions = regions(keys, KEYS);
            CountDownLatch inside = new CountDownLatch(KEYS - 1);
            CountDownLatch go = new CountDownLatch(1);
            AtomicReference<Throwable> failure = new AtomicReference<>();
            List<Thread> threads = new ArrayList<>();
            for (Region region : regions.subList(0, KEYS - 1)) {
                threads.add(Thread.ofPlatform().start(() -> {
                    try {
                        region.run(() -> {
                            inside.countDown();
                            try {
                                assertThat(go.await(100, TimeUnit.SECONDS)).isTrue();
                            } catch (InterruptedException e) {
                                throw new IllegalStateException(e);
                            }
                        });
                    } catch (Throwable t) {
                        failure.set(t);
                    }
                }));
            }
            assertThat(inside.await(100, TimeUnit.SECONDS)).isTrue();

            assertThatThrownBy(() -> regions.getLast().enter())
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("all 4 protection keys are in use");

            go.countDown();
            for (Thread thread : threads) {
                thread.join();
            }
            assertThat(failure.get()).isNull();
            regions.getLast()
                    .run(() -> assertThat(fake.canReach(at(0).address())).isFalse());
        }
    }

    @Test
    void shouldRefuseVirtualThreads() throws InterruptedException {
        try (ProtectionKeys keys = ProtectionKeys.open(fake, 15)) {
            Region region = keys.add(at(0));
            AtomicReference<Throwable> thrown = new AtomicReference<>();
            Thread.ofVirtual()
                    .start(() -> {
                        try {
                            region.enter();
                        } catch (IllegalStateException e) {
                            thrown.set(e);
                        }
                    })
                    .join();
            assertThat(thrown.get()).hasMessageContaining("platform threads");
        }
    }

    @Test
    void shouldNeedTwoKeys() {
        assertThatThrownBy(() -> ProtectionKeys.open(fake, 1))
                .isInstanceOf(UnsupportedFeatureException.class)
                .hasMessageContaining("needs two");
        assertThat(fake.free.cardinality()).isEqualTo(KEYS);
    }

    @Test
    void shouldAllocateNothingForARegionThatHasItsKey() {
        try (ProtectionKeys keys = ProtectionKeys.open(new FakeRegister(), 15)) {
            Region region = keys.add(at(0));
            Allocation.settlesAtNothing(() -> region.leave(region.enter()));
        }
    }

    /** Counts nothing. */
    private static final class FakeRegister implements MemoryKeys {
        private int next = 1;

        @Override
        public int allocate() {
            return next < 4 ? next++ : -1;
        }

        @Override
        public void free(int key) {}

        @Override
        public void assign(long address, long bytes, int key) {}

        @Override
        public void use(int bits) {}

        @Override
        public int enter(int closed) {
            return closed;
        }

        @Override
        public void leave(int before) {}
    }

    // ---- with the processor's

    @Test
    void shouldRaiseAndGoOnWhereTheProcessorHasKeys() {
        Skip.unless(() -> {
            HardwareKeys.requireProcessor();
            return true;
        });
        // The rounds are there for the compilers. On an emulated processor, the interpreter takes a millisecond for
        // each.
        Map<String, Integer> rounds =
                Map.of("-Xint", 1_000, "-XX:TieredStopAtLevel=1", 200_000, "-XX:-TieredCompilation", 200_000);
        rounds.forEach((flags, count) -> {
            ChildJvm.Result result =
                    Probe.of(folder, KeyProbe.class, count).flags(flags).run();
            assertThat(result.output()).as(flags).endsWith("all went well\n");
        });
    }
}
