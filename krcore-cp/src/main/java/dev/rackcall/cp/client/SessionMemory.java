package dev.rackcall.cp.client;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import dev.rackcall.cp.session.SessionLayout;
import dev.rackcall.shm.os.file.Mapping;
import dev.rackcall.shm.os.file.SharedFile;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A tenant's mapping of the session's memory. It is unmapped when the session is over and its last queue or port is
 * closed. Any thread may use it.
 */
final class SessionMemory {
    private final SessionLayout layout;
    private final Mapping mapping;
    private final MemorySegment segment;
    /** Open queues and ports, and how to close them. Guarded by itself, with what follows. */
    private final Map<Object, Runnable> users = new HashMap<>();

    private boolean released;

    /** @throws IllegalArgumentException if the file is too short */
    SessionMemory(SessionLayout layout, SharedFile file) {
        if (file.bytes() < layout.byteSize()) {
            throw new IllegalArgumentException("the agent's memory has " + file.bytes() + " bytes, not the "
                    + layout.byteSize() + " that it says");
        }
        this.layout = layout;
        mapping = file.map();
        segment = mapping.memory();
    }

    SessionLayout layout() {
        return layout;
    }

    MemorySegment segment() {
        return segment;
    }

    /** The text that the agent has written into a place. */
    String text(long place) {
        int length = Math.clamp(segment.get(JAVA_INT, place + SessionLayout.TEXT_LENGTH), 0, SessionLayout.MAX_TEXT);
        byte[] bytes = segment.asSlice(place + SessionLayout.TEXT, length).toArray(JAVA_BYTE);
        return new String(bytes, StandardCharsets.UTF_8);
    }

    /** Keeps the memory mapped for a queue or port until it has {@link #left}; returns false if the session is over. */
    boolean enter(Object user, Runnable close) {
        synchronized (users) {
            if (!released) {
                users.put(user, close);
            }
            return !released;
        }
    }

    void left(Object user) {
        boolean isLast;
        synchronized (users) {
            isLast = users.remove(user) != null && users.isEmpty() && released;
        }
        if (isLast) {
            mapping.close();
        }
    }

    /** Releases the memory, since the session is over. */
    void release() {
        boolean isUnused;
        synchronized (users) {
            isUnused = users.isEmpty() && !released;
            released = true;
        }
        if (isUnused) {
            mapping.close();
        }
    }

    /** Closes the queues and ports that are open. */
    void closeUsers() {
        List<Runnable> left;
        synchronized (users) {
            left = List.copyOf(users.values());
        }
        left.forEach(Runnable::run);
    }
}
