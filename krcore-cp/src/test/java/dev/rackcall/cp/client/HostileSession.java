package dev.rackcall.cp.client;

import dev.rackcall.cp.HostId;
import dev.rackcall.cp.session.SessionLayout;
import dev.rackcall.shm.os.Uid;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.Optional;
import java.util.Random;

/** A tenant's process that violates the protocol. */
public final class HostileSession implements AutoCloseable {
    private final TenantSession session;

    private HostileSession(TenantSession session) {
        this.session = session;
    }

    public static HostileSession join(Path socket, String name) {
        return new HostileSession(AgentHandshake.say(socket, name, Patience.begin()));
    }

    /** Joins in another version of the protocol. */
    public static void join(Path socket, int version) {
        AgentHandshake.say(socket, "t", version, Uid.current(), Patience.begin())
                .close();
    }

    /**
     * Fills the ring with entries that have a valid sequence, so that the agent takes them, and random bytes otherwise.
     */
    public void scribble(HostId peer, Random random) {
        // With a queue, random requests get as far as the checks.
        session.connect(peer, Optional.empty(), Patience.begin());
        SessionLayout layout = session.memory.layout();
        for (long number = 1; number < layout.entries(); number++) {
            byte[] noise = new byte[184];
            random.nextBytes(noise);
            long at = layout.entry(number);
            for (int i = 0; i < noise.length; i++) {
                session.memory.segment().set(ValueLayout.JAVA_BYTE, at + 8 + i, noise[i]);
            }
            session.memory.segment().set(ValueLayout.JAVA_INT, at + SessionLayout.KIND, random.nextInt(5));
            session.memory.segment().set(ValueLayout.JAVA_INT, at + SessionLayout.PLACE, random.nextInt(4) - 1);
            SessionLayout.LONG.setRelease(session.memory.segment(), at, number + 1);
        }
        session.places.published();
    }

    @Override
    public void close() {
        session.close();
    }
}
