package dev.rackcall.shm.os.socket;

import dev.rackcall.shm.os.file.Descriptor;
import dev.rackcall.shm.os.file.SharedFile;

/**
 * A message received over a {@link UnixSocket}. The receiver owns the descriptors and must close them or {@link #adopt}
 * them.
 */
public final class Message {
    private static final int ADOPTED = -1;
    private static final Message END = new Message(new byte[0], new int[0]);

    private final byte[] bytes;
    private final int[] fds;

    Message(byte[] bytes, int[] fds) {
        this.bytes = bytes;
        this.fds = fds;
    }

    static Message end() {
        return END;
    }

    /** The sender's bytes. Empty only at the end of the stream. */
    public byte[] bytes() {
        return bytes;
    }

    /**
     * The descriptors that came with the message, open in this process and closed on exec; -1 for one that was taken
     * out.
     */
    public int[] fds() {
        return fds;
    }

    /**
     * Takes a descriptor out of this message, as memory.
     *
     * @throws dev.rackcall.shm.os.OsException if it is not a regular file or memfd; it is closed then
     */
    public SharedFile adopt(int index) {
        int fd = fds[index];
        fds[index] = ADOPTED;
        return SharedFile.adopt(fd);
    }

    /** Takes a descriptor of any kind out of this message. The caller closes it. */
    public int take(int index) {
        int fd = fds[index];
        fds[index] = ADOPTED;
        return fd;
    }

    /** Whether this marks the end: the peer has closed its socket or died. */
    public boolean isEnd() {
        return bytes.length == 0;
    }

    /** Closes the remaining descriptors, for a message that is rejected. Idempotent. */
    public void closeFds() {
        for (int i = 0; i < fds.length; i++) {
            if (fds[i] != ADOPTED) {
                Descriptor.close(fds[i]);
                fds[i] = ADOPTED;
            }
        }
    }
}
