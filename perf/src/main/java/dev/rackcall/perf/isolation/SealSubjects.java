package dev.rackcall.perf.isolation;

import dev.rackcall.perf.harness.BenchArena;
import dev.rackcall.perf.harness.ClientSide;
import dev.rackcall.perf.harness.Subject;
import dev.rackcall.perf.harness.WrongReplyException;
import dev.rackcall.sandbox.ProtectionKeys;
import dev.rackcall.sandbox.SealSpec;
import dev.rackcall.sandbox.SealedScopes;
import dev.rackcall.sandbox.Seals;
import dev.rackcall.sandbox.os.Userfault;
import dev.rackcall.shm.Ref;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.os.file.Mapping;
import dev.rackcall.shm.os.file.SharedFile;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.List;

/**
 * Seals and protection keys without a call around them: closing and opening scopes of some sizes, one by one and in
 * batches, and entering and leaving the sandbox of a region, whose key it has or must get.
 */
final class SealSubjects {
    private static final int PAGE = IsolationCall.PAGE;
    private static final long RESERVED = 64 << 10;
    private static final int BATCH = 1024;
    private static final int DESCRIPTORS = 4096;
    private static final int SCOPE_OVERHEAD = 64;
    private static final int MANY_REGIONS = 32;

    private SealSubjects() {}

    static void addTo(List<Subject> subjects, int[] sizes) {
        for (int pages : sizes) {
            String group = "seal-" + pages;
            subjects.add(LocalSubjects.subject(
                    "seal-release-" + pages,
                    group,
                    pages * PAGE,
                    "sealing, checking, marking and releasing a scope of " + pages + " pages",
                    () -> single(pages)));
            int scopes = Math.max(1, BATCH / pages);
            subjects.add(LocalSubjects.subject(
                            "release-batched-" + pages,
                            group,
                            pages * PAGE,
                            "the same, released in batches of " + scopes + " scopes",
                            () -> batched(pages, scopes))
                    .repeating(scopes));
        }
        subjects.add(LocalSubjects.subject(
                "seal-syscalls-1",
                "seal-1",
                PAGE,
                "the kernel's part of that: the system calls that close and open one page, alone",
                () -> closing(false)));
        subjects.add(LocalSubjects.subject(
                "seal-syscalls-write-1",
                "seal-1",
                PAGE,
                "the same, and the page fault of the store that follows, as in sealed-write-1",
                () -> closing(true)));
        subjects.add(keys("sandbox-keys-cached", 1));
        subjects.add(keys("sandbox-keys-uncached", MANY_REGIONS));
    }

    private static ClientSide closing(boolean stores) {
        SharedFile file = SharedFile.memfd("bench-page", PAGE);
        Mapping mapping = file.map();
        MemorySegment page = mapping.memory();
        page.fill((byte) 1);
        Userfault userfault = Userfault.open();
        userfault.register(page.address(), PAGE);
        return ClientSide.of(
                sequence -> {
                    userfault.protect(page.address(), PAGE);
                    userfault.unprotect(page.address(), PAGE);
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

    private static Subject keys(String name, int regions) {
        return LocalSubjects.subject(
                        name,
                        "sandbox",
                        PAGE,
                        "entering and leaving by protection keys, " + regions + " regions in turn",
                        () -> entering(regions))
                .repeating(LocalSubjects.REPETITIONS)
                .unless(BenchHost::missingKeys);
    }

    private static ClientSide entering(int count) {
        SharedFile file = SharedFile.memfd("bench-keys", PAGE);
        file.reserve(0, PAGE);
        ProtectionKeys keys = ProtectionKeys.open();
        Mapping[] mappings = new Mapping[count];
        ProtectionKeys.Region[] regions = new ProtectionKeys.Region[count];
        for (int i = 0; i < count; i++) {
            mappings[i] = file.map();
            regions[i] = keys.add(mappings[i].memory());
        }
        return ClientSide.of(
                sequence -> {
                    for (int i = 0; i < LocalSubjects.REPETITIONS; i++) {
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
        return ClientSide.of(
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
        Arrays.setAll(scopes, i -> bench.scope(pages));
        return ClientSide.of(
                sequence -> {
                    for (Scope scope : scopes) {
                        long seal = bench.seals.seal(scope, "bench");
                        bench.receiver.claim(seal);
                        bench.receiver.markDone(seal);
                        bench.seals.releaseLater(seal);
                    }
                    WrongReplyException.check("release-batched", scopes.length, bench.seals.flush());
                },
                bench::close);
    }

    /** An arena with both sides of its seals. */
    private static final class Bench {
        private final BenchArena memory = new BenchArena(32 << 20, RESERVED);
        private final Seals seals;
        private final SealedScopes receiver;

        Bench(int batch) {
            MemorySegment ring = Arena.ofAuto().allocate(Seals.ringBytes(DESCRIPTORS), Long.BYTES);
            MemorySegment marks = Arena.ofAuto().allocate(Seals.marksBytes(DESCRIPTORS), Long.BYTES);
            seals = Seals.cooperative(
                    SealSpec.of(memory.arena(), memory.file(), ring, marks).withBatch(batch));
            receiver = SealedScopes.of(memory.arena(), ring, marks);
        }

        /** A scope of which every page is used and touched, because a seal covers exactly those. */
        Scope scope(int pages) {
            long bytes = (long) pages * PAGE - SCOPE_OVERHEAD;
            Scope scope = memory.arena().newScope(bytes);
            long at = Ref.offset(scope.allocate(bytes));
            memory.arena().memory().asSlice(at, bytes).fill((byte) 1);
            if (scope.bytesHeld() != (long) pages * PAGE) {
                throw new IllegalStateException(
                        "a scope of " + scope.bytesHeld() + " bytes, not of " + pages + " pages");
            }
            return scope;
        }

        void close() {
            seals.close();
            memory.close();
        }
    }
}
