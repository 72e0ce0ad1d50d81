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

/** A tenant's mapping of what it shares with the agent's process: there until the session is over and its last queue or port is closed. Any thread may use it. */
final class SessionMemory {
    private final SessionLayout layout;
    private final Mapping mapping;
    private final MemorySegment segment;
    /** Queues and ports that are open, and how they are closed. Guarded by themselves, with what follows. */
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

    /** What the agent has written into a place. */
    String text(long place) {
        int length = Math.clamp(segment.get(JAVA_INT, place + SessionLayout.TEXT_LENGTH), 0, SessionLayout.MAX_TEXT);
        byte[] bytes = segment.asSlice(place + SessionLayout.TEXT, length).toArray(JAVA_BYTE);
        return new String(bytes, StandardCharsets.UTF_8);
    }

    /** Somebody touches the memory until he {@link #left}; false if the session is over. */
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

    /** The session is over. */
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
