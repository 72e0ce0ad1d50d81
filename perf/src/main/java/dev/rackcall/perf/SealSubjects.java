package dev.rackcall.perf;

import dev.rackcall.sandbox.ProtectionKeys;
import dev.rackcall.sandbox.SealSpec;
import dev.rackcall.sandbox.SealedScopes;
import dev.rackcall.sandbox.Seals;
import dev.rackcall.sandbox.os.HardwareKeys;
import dev.rackcall.sandbox.os.UnsupportedFeatureException;
import dev.rackcall.sandbox.os.Userfault;
import dev.rackcall.shm.Arena;
import dev.rackcall.shm.ArenaSpec;
import dev.rackcall.shm.Ref;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.TableHome;
import dev.rackcall.shm.os.file.Mapping;
import dev.rackcall.shm.os.file.SharedFile;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Optional;

/**
 * What seals and protection keys cost by themselves, without a call around them: closing and opening scopes of some sizes, one by one and in batches, and
 * entering and leaving the sandbox of a region, whose key it has or must get.
 */
final class SealSubjects {
    private static final int BATCH = 1024;
    private static final int DESCRIPTORS = 4096;
    private static final int SCOPE_OVERHEAD = 64;
    private static final int MANY_REGIONS = 32;

    private SealSubjects() {}

    static void addTo(List<Subject> subjects, int[] sizes) {
        for (int pages : sizes) {
            subjects.add(new LocalSubject(
                    "seal-release-" + pages,
                    "seal-" + pages,
                    "",
                    pages * IsolationSubject.PAGE,
                    1,
                    "sealing, checking, marking and releasing a scope of " + pages + " pages",
                    () -> single(pages)));
            int scopes = Math.max(1, BATCH / pages);
            subjects.add(new LocalSubject(
                    "release-batched-" + pages,
                    "seal-" + pages,
                    "",
                    pages * IsolationSubject.PAGE,
                    scopes,
                    "the same, released in batches of " + scopes + " scopes",
                    () -> batched(pages, scopes)));
        }
        subjects.add(kernel(
                "seal-syscalls-1",
                "the kernel's part of that: the system calls that close and open one page, alone",
                false));
        subjects.add(kernel(
                "seal-syscalls-write-1",
                "the same, and the page fault of the store that follows, as in sealed-write-1",
                true));
        subjects.add(keys("sandbox-keys-cached", 1));
        subjects.add(keys("sandbox-keys-uncached", MANY_REGIONS));
    }

    private static Subject kernel(String name, String settings, boolean stores) {
        return new LocalSubject(name, "seal-1", "", IsolationSubject.PAGE, 1, settings, () -> closing(stores));
    }

    private static ClientSide closing(boolean stores) {
        SharedFile file = SharedFile.memfd("bench-page", IsolationSubject.PAGE);
        Mapping mapping = file.map();
        MemorySegment page = mapping.memory();
        page.fill((byte) 1);
        Userfault userfault = Userfault.open();
        userfault.register(page.address(), IsolationSubject.PAGE);
        return IsolationSubjects.local(
                sequence -> {
                    userfault.protect(page.address(), IsolationSubject.PAGE);
                    userfault.unprotect(page.address(), IsolationSubject.PAGE);
                    if (stores) {
                        page.set(ValueLayout.JAVA_LONG, 0, sequence);
                    }
                },
                () -> {
                    userfault.close();
                    mapping.close();
                    file.close();
                });
    }

    private static Optional<String> missingKeys() {
        try {
            HardwareKeys.requireProcessor();
            return Optional.empty();
        } catch (UnsupportedFeatureException e) {
            return Optional.of(e.getMessage());
        }
    }

    private static Subject keys(String name, int regions) {
        return new LocalSubject(
                        name,
                        "sandbox",
                        "",
                        IsolationSubject.PAGE,
                        IsolationSubjects.REPETITIONS,
                        "entering and leaving by protection keys, " + regions + " regions in turn",
                        () -> entering(regions))
                .unless(SealSubjects::missingKeys);
    }

    private static ClientSide entering(int count) {
        SharedFile file = SharedFile.memfd("bench-keys", IsolationSubject.PAGE);
        file.reserve(0, IsolationSubject.PAGE);
        ProtectionKeys keys = ProtectionKeys.open();
        Mapping[] mappings = new Mapping[count];
        ProtectionKeys.Region[] regions = new ProtectionKeys.Region[count];
        for (int i = 0; i < count; i++) {
            mappings[i] = file.map();
            regions[i] = keys.add(mappings[i].memory());
        }
        return IsolationSubjects.local(
                sequence -> {
                    for (int i = 0; i < IsolationSubjects.REPETITIONS; i++) {
                        ProtectionKeys.Region region = regions[i % count];
                        region.leave(region.enter());
                    }
                },
                () -> {
                    keys.close();
                    for (Mapping mapping : mappings) {
                        mapping.close();
                    }
                    file.close();
                });
    }

    private static ClientSide single(int pages) {
        Bench bench = new Bench(BATCH);
        Scope scope = bench.scope(pages);
        return IsolationSubjects.local(
                sequence -> {
                    long seal = bench.seals.seal(scope, "bench");
                    bench.receiver.claim(seal);
                    bench.receiver.markDone(seal);
                    bench.seals.release(seal);
                },
                bench::close);
    }

    private static ClientSide batched(int pages, int count) {
        Bench bench = new Bench(Integer.MAX_VALUE);
        Scope[] scopes = new Scope[count];
        for (int i = 0; i < count; i++) {
            scopes[i] = bench.scope(pages);
        }
        return IsolationSubjects.local(
                sequence -> {
                    for (Scope scope : scopes) {
                        long seal = bench.seals.seal(scope, "bench");
                        bench.receiver.claim(seal);
                        bench.receiver.markDone(seal);
                        bench.seals.releaseLater(seal);
                    }
                    int released = bench.seals.flush();
                    if (released != scopes.length) {
                        throw new WrongReplyException("release-batched", scopes.length, released);
                    }
                },
                bench::close);
    }

    /** An arena with both sides of its seals. */
    private static final class Bench {
        private final SharedFile file = SharedFile.memfd("bench-seals", 32 << 20);
        private final Mapping mapping = file.map();
        private final Arena arena =
                Arena.create(new ArenaSpec(1, mapping.memory(), file, 0, TableHome.PRIVATE, 1, 64 << 10));
        private final Seals seals;
        private final SealedScopes receiver;

        Bench(int batch) {
            MemorySegment ring = java.lang.foreign.Arena.ofAuto().allocate(Seals.ringBytes(DESCRIPTORS), Long.BYTES);
            MemorySegment marks = java.lang.foreign.Arena.ofAuto().allocate(Seals.marksBytes(DESCRIPTORS), Long.BYTES);
            seals = Seals.cooperative(SealSpec.of(arena, file, ring, marks).withBatch(batch));
            receiver = SealedScopes.of(arena, ring, marks);
        }

        /** All of it in use and touched, since so much is sealed. */
        Scope scope(int pages) {
            long bytes = (long) pages * IsolationSubject.PAGE - SCOPE_OVERHEAD;
            Scope scope = arena.newScope(bytes);
            long at = Ref.offset(scope.allocate(bytes));
            arena.memory().asSlice(at, bytes).fill((byte) 1);
            if (scope.bytesHeld() != (long) pages * IsolationSubject.PAGE) {
                throw new IllegalStateException(
                        "a scope of " + scope.bytesHeld() + " bytes, not of " + pages + " pages");
            }
            return scope;
        }

        void close() {
            seals.close();
            mapping.close();
            file.close();
        }
    }
}
