package dev.rackcall.grpc.wire;

import dev.rackcall.rpc.Status;
import dev.rackcall.shm.os.file.SharedFile;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Optional;

/** The two messages that begin a connection, in network byte order. The server's message also passes the memory. */
final class PipeHello {
    /** "RKGRPC" and the version of the layout and of the frames. */
    private static final long MAGIC = 0x524b_4752_5043_0001L;

    private static final int MOST_TEXT = 4096;

    private PipeHello() {}

    static byte[] ofClient(String channel) {
        byte[] name = channel.getBytes(StandardCharsets.UTF_8);
        return ByteBuffer.allocate(Long.BYTES + name.length)
                .putLong(MAGIC)
                .put(name)
                .array();
    }

    /** Whether a client speaks this protocol, in this version. */
    static boolean isClient(byte[] hello, String channel) {
        return Arrays.equals(hello, ofClient(channel));
    }

    static byte[] ofServer() {
        return answer(Status.Code.OK, "");
    }

    /** Why a client is refused that {@link #isClient} does not know. */
    static Status strange() {
        return Status.Code.FAILED_PRECONDITION.with(
                "it is served to gRPC clients of another version, or of another channel; use one version of rackcall-grpc"
                        + " at both ends");
    }

    static byte[] refusal(Status status) {
        String text = status.description();
        return answer(status.code(), text.substring(0, Math.min(text.length(), MOST_TEXT / 4)));
    }

    private static byte[] answer(Status.Code code, String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        return ByteBuffer.allocate(Long.BYTES + 2 * Integer.BYTES + bytes.length)
                .putLong(MAGIC)
                .putInt(code.number())
                .putInt(PipeLayout.PIPE_BYTES)
                .put(bytes)
                .array();
    }

    /** Why a server refuses the connection; empty if it accepts. */
    static Optional<Status> refusalIn(byte[] answer, String channel) {
        if (answer.length < Long.BYTES + 2 * Integer.BYTES
                || answer.length > MOST_TEXT
                || ByteBuffer.wrap(answer).getLong() != MAGIC) {
            return Optional.of(Status.Code.FAILED_PRECONDITION.with(
                    "channel %s is served, but not by a gRPC server of this version; use one version of rackcall-grpc at both"
                            + " ends, and RackcallServerBuilder at the server",
                    channel));
        }
        ByteBuffer fields = ByteBuffer.wrap(answer, Long.BYTES, answer.length - Long.BYTES);
        int code = fields.getInt();
        int pipeBytes = fields.getInt();
        if (pipeBytes != PipeLayout.PIPE_BYTES) {
            return Optional.of(Status.Code.FAILED_PRECONDITION.with(
                    "channel %s: the server has pipes of %d bytes, not %d; use one version of rackcall-grpc at both ends",
                    channel, pipeBytes, PipeLayout.PIPE_BYTES));
        }
        if (code == Status.Code.OK.number()) {
            return Optional.empty();
        }
        return Optional.of(
                Status.Code.ofNumber(code).with("channel %s: %s", channel, StandardCharsets.UTF_8.decode(fields)));
    }

    /** Whether the memory is what this protocol needs, and can never become shorter. */
    static boolean isSound(SharedFile file) {
        return file.bytes() == PipeLayout.FILE_BYTES && file.isSealed();
    }
}
