package dev.rackcall.verbs.soft;

import static dev.rackcall.verbs.soft.FrameLayout.INT;

import dev.rackcall.verbs.Gid;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.lang.foreign.MemorySegment;

/** The first bytes in each direction. */
final class Greeting {
    /** What the device that is connected to says. The ordinal travels. */
    enum Answer {
        /** Requests may follow. */
        WELCOME,
        /** It speaks another version of the protocol. */
        OTHER_VERSION,
        /** The device that was meant does not listen here any more. */
        OTHER_DEVICE,
        /** It has as many peers as it takes. */
        TOO_MANY_PEERS;

        private static final Answer[] ALL = values();
    }

    private Greeting() {}

    static ByteBuf write(Gid source, Gid target, Answer answer) {
        ByteBuf bytes = Unpooled.buffer(FrameLayout.GREETING_BYTES);
        bytes.writeIntLE(FrameLayout.MAGIC).writeIntLE(FrameLayout.VERSION);
        bytes.writeBytes(source.toBytes()).writeBytes(target.toBytes());
        return bytes.writeIntLE(answer.ordinal()).writeZero(FrameLayout.GREETING_BYTES - bytes.writerIndex());
    }

    static void check(MemorySegment greeting, long at) throws ProtocolException {
        if (!isOurs(greeting, at)) {
            throw new ProtocolException(
                    "not a software RDMA device: its first bytes are " + Integer.toHexString(greeting.get(INT, at)));
        }
        if (version(greeting, at) != FrameLayout.VERSION) {
            throw new ProtocolException(
                    "it speaks protocol version " + version(greeting, at) + ", this one " + FrameLayout.VERSION);
        }
    }

    static boolean isOurs(MemorySegment greeting, long at) {
        return greeting.get(INT, at) == FrameLayout.MAGIC;
    }

    static int version(MemorySegment greeting, long at) {
        return greeting.get(INT, at + FrameLayout.GREETING_VERSION);
    }

    static Gid source(MemorySegment greeting, long at) {
        return gid(greeting, at + FrameLayout.GREETING_SOURCE);
    }

    static Gid target(MemorySegment greeting, long at) {
        return gid(greeting, at + FrameLayout.GREETING_TARGET);
    }

    static Answer answer(MemorySegment greeting, long at) throws ProtocolException {
        int code = greeting.get(INT, at + FrameLayout.GREETING_ANSWER);
        if (code < 0 || code >= Answer.ALL.length) {
            throw new ProtocolException("a greeting with answer " + code);
        }
        return Answer.ALL[code];
    }

    private static Gid gid(MemorySegment greeting, long at) {
        return new Gid(FrameLayout.networkLong(greeting, at), FrameLayout.networkLong(greeting, at + Long.BYTES));
    }
}
