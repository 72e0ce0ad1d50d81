package dev.rackcall.shm.os.socket;

import dev.rackcall.shm.os.file.Descriptor;
import dev.rackcall.shm.os.file.SharedFile;

/**
 * One message of a {@link UnixSocket}. The receiver owns the descriptors and closes them, or hands them to {@link SharedFile#adopt}.
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

    /** The sender's bytes; empty only at the end of the stream. */
    public byte[] bytes() {
        return bytes;
    }

    /** Descriptors that came along, open in this process and closed on exec; -1 for one that was adopted. */
    public int[] fds() {
        return fds;
    }

    /**
     * Takes one of the descriptors out of this message, as memory.
     *
     * @throws OsException if it is not a regular file or memfd; it is closed then
     */
    public SharedFile adopt(int index) {
        int fd = fds[index];
        fds[index] = ADOPTED;
        return SharedFile.adopt(fd);
    }

    /** Takes one of the descriptors out of this message, whatever it is; the caller closes it. */
    public int take(int index) {
        int fd = fds[index];
        fds[index] = ADOPTED;
        return fd;
    }

    /** Whether this is no message: the peer has closed its end, or died. */
    public boolean isEnd() {
        return bytes.length == 0;
    }

    /** Closes those descriptors that were not adopted, for a message that is refused. Idempotent. */
    public void closeFds() {
        for (int i = 0; i < fds.length; i++) {
            if (fds[i] != ADOPTED) {
                Descriptor.close(fds[i]);
                fds[i] = ADOPTED;
            }
        }
    }
}
