package dev.rackcall.sandbox.os;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.rackcall.shm.os.file.Mapping;
import dev.rackcall.shm.os.file.SharedFile;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Consumer;

/** Main of a child: stores to pages that are closed, in every way that Java has, and says what came of it. */
final class StoreProbe {
    private static final int PAGE = 4096;
    private static final long BYTES = 16L * PAGE;
    private static final VarHandle LONG = JAVA_LONG.varHandle();
    private static final Map<String, Consumer<MemorySegment>> STORES = new LinkedHashMap<>();
    private static final Map<String, Consumer<MemorySegment>> ATOMICS = new LinkedHashMap<>();

    static {
        STORES.put("long", memory -> memory.set(JAVA_LONG, PAGE, 1));
        STORES.put("byte", memory -> memory.set(JAVA_BYTE, PAGE + 1, (byte) 1));
        STORES.put("release", memory -> LONG.setRelease(memory, (long) PAGE, 1L));
        ATOMICS.put("compareAndSet", memory -> LONG.compareAndSet(memory, (long) PAGE, 7L, 1L));
        ATOMICS.put("getAndAdd", memory -> LONG.getAndAdd(memory, (long) PAGE, 1L));
        STORES.put("fill", memory -> memory.asSlice(PAGE, PAGE).fill((byte) 1));
        STORES.put("fill of a few bytes", memory -> memory.asSlice(PAGE, 13).fill((byte) 1));
        STORES.put("copy of an array", memory -> MemorySegment.copy(new byte[PAGE], 0, memory, JAVA_BYTE, PAGE, PAGE));
        STORES.put("copy of ints", memory -> MemorySegment.copy(new int[] {1, 2, 3}, 0, memory, JAVA_INT, PAGE, 3));
        STORES.put("copy of a segment", memory -> MemorySegment.copy(memory, 4 * PAGE, memory, PAGE, PAGE));
        STORES.put(
                "copy over the border",
                memory -> MemorySegment.copy(new byte[2 * PAGE], 0, memory, JAVA_BYTE, PAGE, 2 * PAGE));
        STORES.put("buffer", memory -> memory.asByteBuffer().putLong(PAGE, 1));
        STORES.put("text", memory -> memory.setString(PAGE, "some text"));
    }

    private StoreProbe() {}

    public static void main(String[] arguments) {
        int rounds = Integer.parseInt(arguments[1]);
        try (SharedFile file = SharedFile.memfd("store-probe", BYTES);
                Mapping mapping = file.map()) {
            file.reserve(0, BYTES);
            MemorySegment memory = mapping.memory();
            try (PageProtector protector = protector(arguments[0], memory)) {
                STORES.forEach((name, store) -> probe(name, store, memory, protector, rounds));
                if (arguments.length > 2) {
                    ATOMICS.forEach((name, store) -> probe(name, store, memory, protector, rounds));
                }
            }
            System.out.println("all refused");
        }
    }

    private static PageProtector protector(String kind, MemorySegment memory) {
        if (kind.contains("guard")) {
            Guard.install().register(memory.address(), memory.byteSize());
        }
        if (kind.contains("mprotect")) {
            return PageProtection.of(memory.address(), memory.byteSize());
        }
        Userfault userfault = Userfault.open();
        userfault.register(memory.address(), memory.byteSize());
        return userfault;
    }

    private static void probe(
            String name, Consumer<MemorySegment> store, MemorySegment memory, PageProtector protector, int rounds) {
        for (int round = 0; round < rounds; round++) {
            memory.fill((byte) 7);
            memory.asSlice(PAGE, PAGE).fill((byte) 0);
            memory.set(JAVA_LONG, PAGE, 7);
            // So that it gets compiled with its profile, closed in the last round only.
            if (round < rounds - 1) {
                store.accept(memory);
                continue;
            }
            protector.protect(memory.address() + PAGE, PAGE);
            refused(name, store, memory);
            protector.unprotect(memory.address() + PAGE, PAGE);
            store.accept(memory);
            if (memory.get(JAVA_LONG, PAGE) == 7 && memory.get(JAVA_BYTE, PAGE + 1) == 0) {
                throw new AssertionError(name + " does nothing, so it proves nothing");
            }
        }
    }

    private static void refused(String name, Consumer<MemorySegment> store, MemorySegment memory) {
        boolean raised = false;
        try {
            store.accept(memory);
            StoreBarrier.now();
        } catch (InternalError e) {
            raised = true;
        }
        if (!raised) {
            throw new AssertionError(name + " was not refused");
        }
        for (long at = PAGE; at < 2 * PAGE; at++) {
            byte expected = (byte) (at == PAGE ? 7 : 0);
            if (memory.get(JAVA_BYTE, at) != expected) {
                throw new AssertionError(name + " changed byte " + at);
            }
        }
        System.out.println("refused: " + name);
    }
}
