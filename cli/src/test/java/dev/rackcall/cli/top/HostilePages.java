package dev.rackcall.cli.top;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.rackcall.rpc.shm.notes.PipeNote;
import dev.rackcall.rpc.shm.notes.PoolNote;
import dev.rackcall.shm.os.file.Mapping;
import dev.rackcall.shm.os.file.SharedFile;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.Random;

/**
 * A process with memory that pretends to be that of connections. Its arguments are a seed and the channel's name. It
 * prints "there" and ends with its input.
 */
public final class HostilePages {
    /** "RACKCALL", as a connection begins. */
    private static final long MAGIC = 0x4c4c41434b434152L;

    private static final int BYTES = 1 << 16;

    private HostilePages() {}

    /** The program. */
    public static void main(String[] arguments) throws IOException {
        Random random = new Random(Long.parseLong(arguments[0]));
        byte[] noise = new byte[BYTES];
        try (SharedFile nonsense = SharedFile.memfd("rackcall" + arguments[1] + "/nonsense", BYTES);
                SharedFile disguised =
                        SharedFile.memfd("rackcall" + arguments[1] + "/disguised\u001b[2J\u202e", BYTES);
                SharedFile pipes = SharedFile.memfd(PipeNote.NAME + arguments[1] + "/pipes", BYTES);
                SharedFile counts = SharedFile.memfd(PipeNote.NAME + arguments[1] + "/counts", BYTES);
                Mapping first = nonsense.map();
                Mapping second = disguised.map();
                Mapping third = pipes.map();
                Mapping fourth = counts.map();
                // A connection in a pool, which would not fit into its file.
                SharedFile _ = PoolNote.write(arguments[1] + "/outside", true, nonsense, Long.MAX_VALUE - BYTES)) {
            random.nextBytes(noise);
            MemorySegment.copy(noise, 0, first.memory(), JAVA_BYTE, 0, BYTES);
            MemorySegment.copy(noise, 0, second.memory(), JAVA_BYTE, 0, BYTES);
            second.memory().set(JAVA_LONG, 0, MAGIC);
            MemorySegment.copy(noise, 0, third.memory(), JAVA_BYTE, 0, BYTES);
            PipeNote.write(fourth.memory(), true).callEnds();
            System.out.println("there");
            while (System.in.read() >= 0) {
                // Whatever it is sent.
            }
        }
    }
}
