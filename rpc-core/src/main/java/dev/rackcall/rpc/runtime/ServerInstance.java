package dev.rackcall.rpc.runtime;

import dev.rackcall.shm.os.file.OwnerLock;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * One server of a channel on this host: its socket, and the lock file that it locks as long as it lives. No two servers
 * ever have the same paths.
 *
 * @param channel the channel's name
 * @param id chosen when the server started; the same for all its channels
 * @param socket where it listens
 * @param lock contains its pid
 */
public record ServerInstance(String channel, String id, Path socket, Path lock) {
    /** The text in the lock file of a server that shares its channels with no other one. */
    public static final String EXCLUSIVE = "exclusive";

    /** Whether the server's process lives, as the kernel proves by the lock. */
    public boolean isAlive() {
        return OwnerLock.isHeld(lock);
    }

    /** Whether it shares the channel with no other server. */
    public boolean isExclusive() {
        return text().endsWith(" " + EXCLUSIVE);
    }

    /** The server's process for a message, for example {@code pid 4711}. */
    public String owner() {
        String[] words = text().split(" ");
        return words.length < 2 ? "an unknown pid" : words[0] + " " + words[1];
    }

    private String text() {
        try {
            return Files.readString(lock).strip();
        } catch (IOException e) {
            // It has ended in the meantime.
            return "";
        }
    }
}
