package dev.rackcall.sandbox.os;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.rackcall.shm.os.file.Mapping;
import dev.rackcall.shm.os.file.SharedFile;
import java.lang.foreign.MemorySegment;

/** Main of a child: what the guard must leave alone, with the guard installed and a mapping registered. */
final class GuardProbe {
    private static final long PAGE = 4096;

    private GuardProbe() {}

    private static final class Box {
        private long value = 1;
        private Box next;
    }

    public static void main(String[] arguments) {
        try (SharedFile file = SharedFile.memfd("guard-probe", 4 * PAGE);
                SharedFile other = SharedFile.memfd("guard-probe", 4 * PAGE);
                Mapping mapping = file.map();
                Mapping stranger = other.map()) {
            file.reserve(0, file.bytes());
            other.reserve(0, other.bytes());
            MemorySegment memory = mapping.memory();
            Guard guard = Guard.install();
            Guard.Registration registration = guard.register(memory.address(), memory.byteSize());
            switch (arguments[0]) {
                case "exceptions of the JVM" -> exceptions();
                case "address" -> address(guard, memory);
                case "wild address" ->
                    MemorySegment.ofAddress(PAGE).reinterpret(8).set(JAVA_LONG, 0, 1);
                case "page of another mapping" -> {
                    PageProtection.of(stranger.memory().address(), PAGE)
                            .protect(stranger.memory().address(), PAGE);
                    stranger.memory().set(JAVA_LONG, 0, 1);
                }
                case "page that is no longer registered" -> {
                    registration.close();
                    registration.close();
                    PageProtection.of(memory.address(), PAGE).protect(memory.address(), PAGE);
                    memory.set(JAVA_LONG, 0, 1);
                }
                default -> throw new IllegalArgumentException(arguments[0]);
            }
            System.out.println("went on");
        }
    }

    /** Null checks, deep recursion and safepoints are signals to a JVM, too. */
    private static void exceptions() {
        int nulls = 0;
        Box box = new Box();
        for (int i = 0; i < 200_000; i++) {
            try {
                box.value += i % 1000 == 999 ? valueOf(box.next) : valueOf(box);
            } catch (NullPointerException e) {
                nulls++;
            }
        }
        require(nulls == 200, "NullPointerException");
        boolean overflow = false;
        try {
            recurse(0);
        } catch (StackOverflowError e) {
            overflow = true;
        }
        require(overflow, "StackOverflowError");
        Thread thread = Thread.ofPlatform().daemon().start(() -> {
            while (!Thread.currentThread().isInterrupted()) {
                Thread.onSpinWait();
            }
        });
        System.gc();
        thread.interrupt();
    }

    private static long valueOf(Box box) {
        return box.value;
    }

    private static int recurse(int depth) {
        return depth == Integer.MAX_VALUE ? 0 : recurse(depth + 1) + 1;
    }

    private static void address(Guard guard, MemorySegment memory) {
        PageProtection protection = PageProtection.of(memory.address(), memory.byteSize());
        protection.protect(memory.address() + PAGE, PAGE);
        require(guard.takeFault().isEmpty(), "no fault before one");
        try {
            memory.set(JAVA_LONG, PAGE + 24, 1);
            StoreBarrier.now();
            throw new AssertionError("not refused");
        } catch (InternalError e) {
            require(guard.takeFault().orElseThrow() == memory.address() + PAGE + 24, "the address");
        }
        require(guard.takeFault().isEmpty(), "a fault is taken once");
        protection.close();
    }

    private static void require(boolean holds, String what) {
        if (!holds) {
            throw new AssertionError(what);
        }
    }
}
