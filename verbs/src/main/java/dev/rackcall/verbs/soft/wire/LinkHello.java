package dev.rackcall.verbs.soft.wire;

import static dev.rackcall.verbs.soft.wire.FrameLayout.INT;

import dev.rackcall.verbs.Gid;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.lang.foreign.MemorySegment;

/** The first message in each direction of a link. */
public final class LinkHello {
    /** The accepting device's answer. The ordinal travels. */
    public enum Answer {
        /** Requests may follow. */
        ACCEPTED,
        /** The accepting device uses another version of the protocol. */
        OTHER_VERSION,
        /** The target device no longer listens here. */
        OTHER_DEVICE,
        /** The accepting device has its maximum number of peers. */
        TOO_MANY_PEERS;

        private static final Answer[] ALL = values();
    }

    private LinkHello() {}

    public static ByteBuf write(Gid source, Gid target, Answer answer) {
        ByteBuf bytes = Unpooled.buffer(FrameLayout.HELLO_BYTES);
        bytes.writeIntLE(FrameLayout.MAGIC).writeIntLE(FrameLayout.VERSION);
        bytes.writeBytes(source.toBytes()).writeBytes(target.toBytes());
        return bytes.writeIntLE(answer.ordinal()).writeZero(FrameLayout.HELLO_BYTES - bytes.writerIndex());
    }

    public static void check(MemorySegment hello, long at) throws WireViolation {
        if (!isOurs(hello, at)) {
            throw new WireViolation(
                    "not a software RDMA device: its first bytes are " + Integer.toHexString(hello.get(INT, at)));
        }
        if (version(hello, at) != FrameLayout.VERSION) {
            throw new WireViolation(
                    "it speaks protocol version " + version(hello, at) + ", this one " + FrameLayout.VERSION);
        }
    }

    public static boolean isOurs(MemorySegment hello, long at) {
        return hello.get(INT, at) == FrameLayout.MAGIC;
    }

    public static int version(MemorySegment hello, long at) {
        return hello.get(INT, at + FrameLayout.HELLO_VERSION);
    }

    public static Gid source(MemorySegment hello, long at) {
        return gid(hello, at + FrameLayout.HELLO_SOURCE);
    }

    public static Gid target(MemorySegment hello, long at) {
        return gid(hello, at + FrameLayout.HELLO_TARGET);
    }

    public static Answer answer(MemorySegment hello, long at) throws WireViolation {
        int code = hello.get(INT, at + FrameLayout.HELLO_ANSWER);
        if (code < 0 || code >= Answer.ALL.length) {
            throw new WireViolation("a hello with answer " + code);
        }
        return Answer.ALL[code];
    }

    private static Gid gid(MemorySegment hello, long at) {
        return new Gid(FrameLayout.networkLong(hello, at), FrameLayout.networkLong(hello, at + Long.BYTES));
    }
}
