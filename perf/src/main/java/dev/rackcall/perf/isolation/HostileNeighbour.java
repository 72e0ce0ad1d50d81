package dev.rackcall.perf.isolation;

import dev.rackcall.rpc.runtime.RuntimeDirectory;
import dev.rackcall.shm.os.OsException;
import dev.rackcall.shm.os.file.Mapping;
import dev.rackcall.shm.os.file.SharedFile;
import dev.rackcall.shm.os.socket.Message;
import dev.rackcall.shm.os.socket.UnixSocket;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Random;

/**
 * A client that connects correctly and then writes random data into all memory that it can write: requests of random
 * method, flags, lengths and Refs, each in its turn, so that the server accepts it, and noise around them. It connects
 * again when the server has closed the connection or had time to handle all requests.
 * docs/internals/connection-layout.md has the layouts; the attack uses nothing of Rackcall's client.
 */
final class HostileNeighbour extends NeighbourProcess {
    private static final long MAGIC = 0x5241434b43414c4cL;
    private static final int PROTOCOL = 1;
    private static final int LAYOUT = 2;
    private static final int SLOTS = 64;
    private static final long QUOTA = 1 << 20;
    private static final long FIRST_SLOT = 4096;
    private static final int SLOT_BYTES = 256;
    private static final int REQUEST_BYTES = 128;
    private static final int PATIENCE_SPINS = 2_000;
    private static final int NOISE_WORDS = 512;
    private static final Duration BOUND = Duration.ofSeconds(5);
    /** Method 0 to 7 in half of the requests: a request that names no method gets no further. */
    private static final long FEW_METHODS = 0xffff_0007_ffff_ffffL;

    private final Path directory;
    private final String channel;
    private final Random random = new Random(1);

    private HostileNeighbour(Path directory, String channel) {
        this.directory = directory;
        this.channel = channel;
    }

    /** Arguments: the runtime folder, the channel. */
    public static void main(String[] arguments) throws Exception {
        new HostileNeighbour(Path.of(arguments[0]), arguments[1]).run();
    }

    @Override
    void once() throws IOException {
        try (UnixSocket socket = UnixSocket.connect(
                RuntimeDirectory.at(directory).instances(channel).getFirst().socket(), BOUND)) {
            socket.send(hello());
            Message welcome = socket.receive(BOUND).orElseThrow(() -> new IOException("no welcome"));
            try {
                if (welcome.fds().length == 2) {
                    try (SharedFile file = welcome.adopt(0);
                            Mapping mapping = file.map()) {
                        attack(socket, mapping.memory());
                    }
                }
            } finally {
                welcome.closeFds();
            }
        } catch (OsException e) {
            throw new IOException("connecting to attack", e);
        }
    }

    private byte[] hello() throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(bytes);
        out.writeLong(MAGIC);
        out.writeInt(PROTOCOL);
        out.writeInt(LAYOUT);
        out.writeUTF(channel);
        out.writeInt(SLOTS);
        out.writeLong(QUOTA);
        return bytes.toByteArray();
    }

    private void attack(UnixSocket socket, MemorySegment memory) {
        for (long ticket = 0; ticket < SLOTS && isWanted(); ticket++) {
            long slot = FIRST_SLOT + ticket * SLOT_BYTES;
            for (int at = Long.BYTES; at < REQUEST_BYTES; at += Long.BYTES) {
                memory.set(
                        ValueLayout.JAVA_LONG,
                        slot + at,
                        random.nextBoolean() ? random.nextLong() : random.nextInt(64));
            }
            long word = random.nextLong() & (random.nextBoolean() ? FEW_METHODS : -1L);
            VarHandle.releaseFence();
            memory.set(ValueLayout.JAVA_LONG, slot, (word & ~0xffff_ffffL) | (ticket + 1));
            VarHandle.fullFence();
            if (!socket.ring()) {
                return;
            }
        }
        for (int i = 0; i < PATIENCE_SPINS && socket.drain() >= 0; i++) {
            Thread.onSpinWait();
        }
        for (int i = 0; i < NOISE_WORDS; i++) {
            long end = FIRST_SLOT + (long) SLOTS * SLOT_BYTES + QUOTA;
            memory.set(ValueLayout.JAVA_LONG, random.nextLong(end) & -Long.BYTES, random.nextLong());
        }
        socket.ring();
    }
}
