package dev.rackcall.rpc.shm.protocol;

import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.spi.ServedInterface;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.zip.DeflaterOutputStream;
import java.util.zip.InflaterInputStream;

/**
 * The two messages that open a connection before there is any shared memory: the client's hello and the server's hello.
 * Each is one packet with magic, protocol version, and the fields in order, in the big-endian form of {@link
 * DataOutputStream}.
 */
public final class Handshake {
    private static final long MAGIC = 0x5241434b43414c4cL; // "RACKCALL"
    static final int PROTOCOL = 1;
    /** Bounds of the number of slots that a client may request, a power of two. */
    public static final int MIN_SLOTS = 2;

    public static final int MAX_SLOTS = 4096;
    /** Minimum bytes of an arena, unless the server's quota is lower. */
    public static final long MIN_QUOTA = 64 << 10;
    /** The server's participant number in the shared arena. */
    public static final int SERVER_PARTICIPANT = 1;
    /** What to do when the shared arena is full. */
    public static final String SHARED_ARENA_FULL = "close shared scopes, or raise the server's sharedQuota";
    /** Participant numbers have 12 bits in a page-table entry; 0 means none. */
    public static final int MAX_PARTICIPANTS = 4095;
    /** Maximum bytes of one text, so that two fit into a packet. Longer texts, which may quote a peer, are cut. */
    private static final int MAX_TEXT_BYTES = 30_000;

    /** How many bytes of a long description are sent uncompressed; the whole description follows, compressed. */
    private static final int SHORT_TEXT_BYTES = 1_000;
    /** Maximum bytes of a compressed description: with the other fields it fits into a packet. */
    private static final int MAX_COMPRESSED_BYTES = 50_000;
    /** Maximum bytes of a description, which bounds what a hostile server makes a client inflate. */
    private static final int MAX_DESCRIPTION_BYTES = 1 << 20;

    private static final int MAX_CHANNEL_CHARS = 255;

    private Handshake() {}

    /**
     * A client's request for a connection.
     *
     * @param layout {@link ControlLayout#VERSION} of the client
     * @param sealsHeld whether another process is to hold the client's seals
     */
    public record ClientHello(int layout, String channel, int slots, long arenaQuota, boolean sealsHeld) {
        public ClientHello(int layout, String channel, int slots, long arenaQuota) {
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

        public static ClientHello decode(byte[] message) throws MalformedException {
            ClientHello hello = read(
                    message,
                    in -> new ClientHello(
                            in.readInt(),
                            in.readUTF(),
                            in.readInt(),
                            in.readLong(),
                            // Older clients do not send this field.
                            in.available() > 0 && in.readBoolean()));
            // The name will appear in logs and messages.
            if (hello.channel.length() > MAX_CHANNEL_CHARS
                    || hello.channel.chars().anyMatch(Character::isISOControl)) {
                throw new MalformedException("what it asks for is not the name of a channel");
            }
            return hello;
        }
    }

    /**
     * The server's answer. With status OK its packet carries file descriptors of the connection's memory and of the
     * channel's shared arena.
     */
    public record ServerHello(
            Status status, long instance, int slots, int participant, Arenas arenas, ServedInterface service) {
        public ArenaPlace request() {
            return arenas.request;
        }

        public ArenaPlace reply() {
            return arenas.reply;
        }

        public ArenaPlace shared() {
            return arenas.shared;
        }

        public static ServerHello refusal(Status status) {
            ArenaPlace none = new ArenaPlace(0, 0, 0);
            return new ServerHello(status, 0, 0, 0, new Arenas(none, none, none), new ServedInterface("", 0, ""));
        }

        public byte[] encode() {
            return write(out -> {
                out.writeInt(status.code().number());
                writeText(out, status.description());
                out.writeLong(instance);
                out.writeInt(slots);
                out.writeInt(participant);
                arenas.request.write(out);
                arenas.reply.write(out);
                arenas.shared.write(out);
                out.writeLong(service.fingerprint());
                writeText(out, service.name());
                writeDescription(out, service.description());
            });
        }

        public static ServerHello decode(byte[] message) throws MalformedException {
            return read(
                    message,
                    in -> new ServerHello(
                            Status.Code.ofNumber(in.readInt()).with(readText(in)),
                            in.readLong(),
                            in.readInt(),
                            in.readInt(),
                            new Arenas(ArenaPlace.read(in), ArenaPlace.read(in), ArenaPlace.read(in)),
                            readService(in)));
        }
    }

    /** The three arenas that a client maps; the last one is shared by the channel's clients. */
    public record Arenas(ArenaPlace request, ArenaPlace reply, ArenaPlace shared) {}

    /**
     * Where an arena lies in its file.
     *
     * @param id 0 if there is no arena
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

        /** Whether the place lies inside a file of that size, on page boundaries. */
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

    /** A malformed packet. */
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

    /** A long description is cut and followed by the whole one, compressed, unless even that is too long. */
    private static void writeDescription(DataOutputStream out, String description) throws IOException {
        byte[] bytes = description.getBytes(StandardCharsets.UTF_8);
        if (bytes.length <= MAX_TEXT_BYTES) {
            writeText(out, description);
            return;
        }
        out.writeInt(SHORT_TEXT_BYTES);
        out.write(bytes, 0, SHORT_TEXT_BYTES);
        byte[] compressed = compress(bytes);
        if (bytes.length <= MAX_DESCRIPTION_BYTES && compressed.length <= MAX_COMPRESSED_BYTES) {
            out.writeInt(compressed.length);
            out.write(compressed);
        }
    }

    private static byte[] compress(byte[] bytes) throws IOException {
        ByteArrayOutputStream compressed = new ByteArrayOutputStream();
        try (DeflaterOutputStream deflater = new DeflaterOutputStream(compressed)) {
            deflater.write(bytes);
        }
        return compressed.toByteArray();
    }

    private static ServedInterface readService(DataInputStream in) throws IOException {
        long fingerprint = in.readLong();
        String name = readText(in);
        String description = readText(in);
        return new ServedInterface(name, fingerprint, in.available() == 0 ? description : inflated(in));
    }

    private static String inflated(DataInputStream in) throws IOException {
        int length = in.readInt();
        if (length < 0 || length > in.available()) {
            throw new IOException("a description of " + length + " bytes does not fit");
        }
        try (InflaterInputStream inflater = new InflaterInputStream(new ByteArrayInputStream(in.readNBytes(length)))) {
            byte[] bytes = inflater.readNBytes(MAX_DESCRIPTION_BYTES + 1);
            if (bytes.length > MAX_DESCRIPTION_BYTES) {
                throw new IOException("a description has more than " + MAX_DESCRIPTION_BYTES + " bytes");
            }
            return new String(bytes, StandardCharsets.UTF_8);
        }
    }

    private static String readText(DataInputStream in) throws IOException {
        int length = in.readInt();
        if (length < 0 || length > in.available()) {
            throw new IOException("a text of " + length + " bytes does not fit");
        }
        return new String(in.readNBytes(length), StandardCharsets.UTF_8);
    }
}
