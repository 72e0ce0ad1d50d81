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
        ACCEPTED(""),
        /** The accepting device uses another version of the protocol. */
        OTHER_VERSION("it uses another version of the protocol; update the older side"),
        /** The target device no longer listens here. */
        OTHER_DEVICE("another device listens there now; connect again with the GID of that device"),
        /** The accepting device has its maximum number of peers, all of them with connections. */
        TOO_MANY_PEERS("it has its maximum number of peers, all with queue pairs (SoftOptions.withMaxPeers raises it)"),
        /** The hello does not prove that its GID is the sender's own. */
        NOT_PROVEN("it does not believe this device's GID: a device must connect from the address in its GID,"
                + " and with the certificate with which it was opened"),
        /** Another open link has this GID. */
        GID_IN_USE("another connection has this device's GID; it may be the last one of this device, so try again");

        private static final Answer[] ALL = values();

        private final String text;

        Answer(String text) {
            this.text = text;
        }

        /** Why the accepting device refuses, to its peer. */
        public String text() {
            return text;
        }
    }

    private LinkHello() {}

    /** A hello that proves the source's GID. */
    public static ByteBuf write(Gid source, GidProof proof, Gid target) {
        return write(source, proof, target, Answer.ACCEPTED);
    }

    /** A refusal names no GID: a rejected peer must not learn it. */
    public static ByteBuf refusal(Answer why) {
        return write(Gid.NONE, GidProof.NONE, Gid.NONE, why);
    }

    private static ByteBuf write(Gid source, GidProof proof, Gid target, Answer answer) {
        ByteBuf bytes = Unpooled.buffer(FrameLayout.HELLO_BYTES);
        bytes.writeIntLE(FrameLayout.MAGIC).writeIntLE(FrameLayout.VERSION);
        bytes.writeBytes(source.toBytes()).writeBytes(target.toBytes());
        bytes.writeIntLE(answer.ordinal()).writeLong(proof.high()).writeLong(proof.low());
        return bytes.writeZero(FrameLayout.HELLO_BYTES - bytes.writerIndex());
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

    public static GidProof proof(MemorySegment hello, long at) {
        return new GidProof(
                FrameLayout.networkLong(hello, at + FrameLayout.HELLO_PROOF),
                FrameLayout.networkLong(hello, at + FrameLayout.HELLO_PROOF + Long.BYTES));
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
