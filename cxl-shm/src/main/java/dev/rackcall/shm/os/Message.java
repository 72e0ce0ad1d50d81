package dev.rackcall.shm.os;

/**
 * One message of a {@link UnixSocket}. The receiver owns the descriptors and closes them, or hands them to {@link SharedFile#adopt}.
 */
public final class Message {
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

    /** Descriptors that came along, open in this process and closed on exec. */
    public int[] fds() {
        return fds;
    }

    /** Whether this is no message: the peer has closed its end, or died. */
    public boolean isEnd() {
        return bytes.length == 0;
    }

    /** Closes the descriptors, for a message that is refused. Call it once, and only if none was adopted. */
    public void closeFds() {
        for (int fd : fds) {
            Descriptor.close(fd);
        }
    }
}
