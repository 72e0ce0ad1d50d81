package dev.rackcall.perf.rdma;

import dev.rackcall.verbs.Gid;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;

/**
 * What one end of a reliable connection tells the other: its queue pair, and memory that the other may use.
 *
 * @param gid of the device
 * @param number of the queue pair
 * @param memory address of the memory; 0 if there is none
 * @param key remote key of the memory
 */
public record RcAddress(Gid gid, int number, long memory, int key) {
    /** Sends it in one write. */
    public void send(OutputStream out) throws IOException {
        out.write(ByteBuffer.allocate(Gid.BYTES + 4 + 8 + 4)
                .putLong(gid.high())
                .putLong(gid.low())
                .putInt(number)
                .putLong(memory)
                .putInt(key)
                .array());
    }

    public static RcAddress receive(DataInputStream in) throws IOException {
        return new RcAddress(new Gid(in.readLong(), in.readLong()), in.readInt(), in.readLong(), in.readInt());
    }
}
