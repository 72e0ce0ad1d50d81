package dev.rackcall.samples.demo;

import java.io.EOFException;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * One message through a socket: 4 bytes of length, then the content. It is filled and sent, or received and read, and reused. As a stream, it
 * takes what a JSON writer gives it. Not thread-safe.
 */
final class Frame extends OutputStream {
    private static final int FIRST_BYTES = 64 << 10;
    private static final int MAX_BYTES = 1 << 30;

    private ByteBuffer buffer = ByteBuffer.allocate(FIRST_BYTES);

    // ---- filling

    void begin() {
        buffer.clear();
        buffer.position(Integer.BYTES);
    }

    @Override
    public void write(int value) {
        room(1).put((byte) value);
    }

    @Override
    public void write(byte[] bytes, int offset, int length) {
        room(length).put(bytes, offset, length);
    }

    void writeInt(int value) {
        room(Integer.BYTES).putInt(value);
    }

    void writeLong(long value) {
        room(Long.BYTES).putLong(value);
    }

    void writeDouble(double value) {
        room(Double.BYTES).putDouble(value);
    }

    void writeText(String text) {
        byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
        writeInt(utf8.length);
        write(utf8, 0, utf8.length);
    }

    void writePath(List<String> path) {
        writeInt(path.size());
        path.forEach(this::writeText);
    }

    /** Where the next byte goes. */
    int position() {
        return buffer.position();
    }

    /** Fills in an int that was written before. */
    void setInt(int position, int value) {
        buffer.putInt(position, value);
    }

    private ByteBuffer room(int bytes) {
        if (buffer.remaining() < bytes) {
            long wanted = (long) buffer.position() + bytes;
            if (wanted > MAX_BYTES) {
                throw new IllegalStateException(
                        "a message of " + wanted + " bytes is too long; hand over fewer documents at once (--batch)");
            }
            int capacity = (int) Math.min(MAX_BYTES, Math.max(wanted, 2L * buffer.capacity()));
            int position = buffer.position();
            buffer = ByteBuffer.wrap(Arrays.copyOf(buffer.array(), capacity)).position(position);
        }
        return buffer;
    }

    /** Sends what was filled in; returns its bytes. */
    int send(SocketChannel channel) throws IOException {
        int bytes = buffer.position();
        buffer.putInt(0, bytes - Integer.BYTES);
        buffer.flip();
        while (buffer.hasRemaining()) {
            channel.write(buffer);
        }
        return bytes;
    }

    // ---- reading

    /** Waits for a message; returns its bytes, or -1 if the other side has closed instead. */
    int receive(SocketChannel channel) throws IOException {
        buffer.clear().limit(Integer.BYTES);
        if (!fill(channel)) {
            return -1;
        }
        int length = buffer.getInt(0);
        if (length < 0 || length > MAX_BYTES - Integer.BYTES) {
            throw new IOException("a message claims to have " + length + " bytes");
        }
        if (length > buffer.capacity()) {
            buffer = ByteBuffer.allocate(length);
        }
        buffer.clear().limit(length);
        if (!fill(channel)) {
            throw new EOFException("the other side closed in the middle of a message");
        }
        buffer.flip();
        return Integer.BYTES + length;
    }

    private boolean fill(SocketChannel channel) throws IOException {
        while (buffer.hasRemaining()) {
            if (channel.read(buffer) < 0) {
                return false;
            }
        }
        return true;
    }

    byte readByte() {
        return buffer.get();
    }

    int readInt() {
        return buffer.getInt();
    }

    long readLong() {
        return buffer.getLong();
    }

    double readDouble() {
        return buffer.getDouble();
    }

    String readText() {
        int length = readInt();
        String text = new String(buffer.array(), buffer.position(), length, StandardCharsets.UTF_8);
        skip(length);
        return text;
    }

    List<String> readPath() {
        int names = readInt();
        List<String> path = new ArrayList<>();
        for (int i = 0; i < names; i++) {
            path.add(readText());
        }
        return path;
    }

    /** The bytes of the message; what is read next lies at {@link #position}. */
    byte[] array() {
        return buffer.array();
    }

    void skip(int bytes) {
        buffer.position(buffer.position() + bytes);
    }
}
