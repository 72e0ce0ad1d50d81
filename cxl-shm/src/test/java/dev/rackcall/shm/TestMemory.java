package dev.rackcall.shm;

import dev.rackcall.shm.os.file.Mapping;
import dev.rackcall.shm.os.file.SharedFile;
import dev.rackcall.shm.types.SharedType;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** An arena with one open scope. */
public final class TestMemory implements AutoCloseable {
    private static final AtomicInteger IDS = new AtomicInteger();

    private final SharedFile file;
    private final Mapping mapping;
    private final Arena arena;
    private final Scope scope;

    private TestMemory(long quota) {
        int id = 1 + IDS.getAndIncrement() % 1000;
        file = SharedFile.memfd("shared-types-test", quota);
        mapping = file.map();
        arena = Arena.create(new ArenaSpec(id, mapping.memory(), file, 0, TableHome.PRIVATE, 1, 64 << 10));
        scope = arena.newScope();
    }

    public static TestMemory create(long quota) {
        return new TestMemory(quota);
    }

    /** Offset of a field in the records of a type, from its description. */
    public static long offsetOf(SharedType<?> type, String field) {
        String own = type.description().lines().findFirst().orElseThrow();
        Matcher place = Pattern.compile("[{ ]" + field + ":.*?@(\\d+)[,}]").matcher(own);
        if (!place.find()) {
            throw new IllegalArgumentException(type + " has no field " + field);
        }
        return Long.parseLong(place.group(1));
    }

    public Arena arena() {
        return arena;
    }

    public Scope scope() {
        return scope;
    }

    @Override
    public void close() {
        if (scope.isOpen()) {
            scope.close();
        }
        mapping.close();
        file.close();
    }
}
