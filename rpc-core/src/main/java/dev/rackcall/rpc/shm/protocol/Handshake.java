package dev.rackcall.rpc.shm.protocol;

import dev.rackcall.rpc.Status;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;

/**
 * The two messages that open a connection over its Unix socket, before there is any shared memory. Each is one datagram-like packet:
 * magic, protocol version, then the fields in order. Java's {@link DataOutputStream} form (big-endian).
 */
public final class Handshake {
    private static final long MAGIC = 0x5241434b43414c4cL; // "RACKCALL"
    static final int PROTOCOL = 1;
    /** Bounds of the slots that a client may ask for; a power of two. */
    public static final int MIN_SLOTS = 2;

    public static final int MAX_SLOTS = 4096;
    /** Bytes of an arena that a client gets at least, if the server gives that much at all. */
    public static final long MIN_QUOTA = 64 << 10;
    /** The server's participant number in the shared arena. */
    public static final int SERVER_PARTICIPANT = 1;
    /** Participant numbers have 12 bits in a page-table entry; 0 is nobody. */
    public static final int MAX_PARTICIPANTS = 4095;
    /** Bytes of one text: two of them fit into a packet, and longer ones, which may quote what a peer sent, are cut. */
    private static final int MAX_TEXT_BYTES = 30_000;

    private static final int MAX_CHANNEL_CHARS = 255;

    private Handshake() {}

    /**
     * The client's wishes.
     *
     * @param layout {@link ControlLayout#VERSION} of the client
     * @param sealsHeld whether another process is to hold its seals
     */
    public record Hello(int layout, String channel, int slots, long arenaQuota, boolean sealsHeld) {
        public Hello(int layout, String channel, int slots, long arenaQuota) {
            this(layout, channel, slots, arenaQuota, false);
        }

        public byte[] encode() {
            return write(out -> {
                out.writeInt(layout);
                out.writeUTF(channel);
                out.writeInt(slots);
                out.writeLong(arenaQuota);
                out.writeBoolean(sealsHeld);
            });
        }

        public static Hello decode(byte[] message) throws MalformedException {
            Hello hello = read(
                    message,
                    in -> new Hello(
                            in.readInt(),
                            in.readUTF(),
                            in.readInt(),
                            in.readLong(),
                            // Clients before this could be asked say nothing here.
                            in.available() > 0 && in.readBoolean()));
            // It will stand in logs and in messages.
            if (hello.channel.length() > MAX_CHANNEL_CHARS
                    || hello.channel.chars().anyMatch(Character::isISOControl)) {
                throw new MalformedException("what it asks for is no channel's name");
            }
            return hello;
        }
    }

    /**
     * The server's answer. With status OK the packet carries the connection's memory, and the channel's shared arena if there is one, as
     * file descriptors.
     */
    public record Welcome(
            Status status,
            long instance,
            int slots,
            int participant,
            ArenaPlace request,
            ArenaPlace reply,
            ArenaPlace shared,
            long fingerprint,
            String serviceName,
            String description) {

        public static Welcome refusal(Status status) {
            ArenaPlace none = new ArenaPlace(0, 0, 0);
            return new Welcome(status, 0, 0, 0, none, none, none, 0, "", "");
        }

        public byte[] encode() {
            return write(out -> {
                out.writeInt(status.code().number());
                writeText(out, status.description());
                out.writeLong(instance);
                out.writeInt(slots);
                out.writeInt(participant);
                request.write(out);
                reply.write(out);
                shared.write(out);
                out.writeLong(fingerprint);
                writeText(out, serviceName);
                writeText(out, description);
            });
        }

        public static Welcome decode(byte[] message) throws MalformedException {
            return read(
                    message,
                    in -> new Welcome(
                            Status.Code.ofNumber(in.readInt()).with(readText(in)),
                            in.readLong(),
                            in.readInt(),
                            in.readInt(),
                            ArenaPlace.read(in),
                            ArenaPlace.read(in),
                            ArenaPlace.read(in),
                            in.readLong(),
                            readText(in),
                            readText(in)));
        }
    }

    /**
     * Where an arena lies in its file.
     *
     * @param id 0: there is none
     */
    public record ArenaPlace(int id, long offset, long bytes) {
        private void write(DataOutputStream out) throws IOException {
            out.writeInt(id);
            out.writeLong(offset);
            out.writeLong(bytes);
        }

        private static ArenaPlace read(DataInputStream in) throws IOException {
            return new ArenaPlace(in.readInt(), in.readLong(), in.readLong());
        }

        /** Whether the place lies inside a file of that size, on page borders. */
        public boolean fits(long fileBytes) {
            return id > 0
                    && id <= 0xffff
                    && offset >= 0
                    && bytes > 0
                    && offset % ControlLayout.PAGE == 0
                    && bytes % ControlLayout.PAGE == 0
                    && bytes <= fileBytes
                    && offset <= fileBytes - bytes;
        }
    }

    /** A packet that is not what it should be. */
    public static final class MalformedException extends Exception {
        private static final long serialVersionUID = 1L;

        public MalformedException(String message) {
            super(message);
        }
    }

    private interface Writing {
        void to(DataOutputStream out) throws IOException;
    }

    private interface Reading<T> {
        T from(DataInputStream in) throws IOException;
    }

    private static byte[] write(Writing fields) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (DataOutputStream out = new DataOutputStream(bytes)) {
            out.writeLong(MAGIC);
            out.writeInt(PROTOCOL);
            fields.to(out);
        } catch (IOException e) {
            throw new UncheckedIOException("writing to memory failed", e);
        }
        return bytes.toByteArray();
    }

    private static <T> T read(byte[] message, Reading<T> fields) throws MalformedException {
        try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(message))) {
            if (in.readLong() != MAGIC) {
                throw new MalformedException("the peer does not speak Rackcall's handshake");
            }
            int protocol = in.readInt();
            if (protocol != PROTOCOL) {
                throw new MalformedException("the peer speaks protocol version " + protocol + ", this side version "
                        + PROTOCOL + "; use the same release of Rackcall on both sides");
            }
            return fields.from(in);
        } catch (IOException e) {
            throw new MalformedException(
                    "the peer's handshake ends early or is garbled (" + message.length + " bytes)");
        }
    }

    private static void writeText(DataOutputStream out, String text) throws IOException {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        int length = Math.min(bytes.length, MAX_TEXT_BYTES);
        out.writeInt(length);
        out.write(bytes, 0, length);
    }

    private static String readText(DataInputStream in) throws IOException {
        int length = in.readInt();
        if (length < 0 || length > in.available()) {
            throw new IOException("a text of " + length + " bytes does not fit");
        }
        return new String(in.readNBytes(length), StandardCharsets.UTF_8);
    }
}
