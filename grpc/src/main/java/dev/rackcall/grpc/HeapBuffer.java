package dev.rackcall.grpc;

import io.grpc.internal.WritableBuffer;

/** Bytes of messages on their way from gRPC's framer to the pipe. */
final class HeapBuffer implements WritableBuffer {
    private static final int SMALLEST = 128;
    /** Longer messages are written into several buffers, the first of which is sent while the next one fills. */
    static final int LARGEST = 32 * 1024;

    private final byte[] bytes;
    private int length;

    private HeapBuffer(int capacity) {
        bytes = new byte[capacity];
    }

    static HeapBuffer allocate(int hint) {
        return new HeapBuffer(Math.clamp(hint, SMALLEST, LARGEST));
    }

    byte[] bytes() {
        return bytes;
    }

    @Override
    public void write(byte[] source, int from, int count) {
        System.arraycopy(source, from, bytes, length, count);
        length += count;
    }

    @Override
    public void write(byte b) {
        bytes[length++] = b;
    }

    @Override
    public int writableBytes() {
        return bytes.length - length;
    }

    @Override
    public int readableBytes() {
        return length;
    }

    @Override
    public void release() {
        // The garbage collector takes it.
    }
}
