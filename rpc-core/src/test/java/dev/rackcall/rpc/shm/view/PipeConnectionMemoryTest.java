package dev.rackcall.rpc.shm.view;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.rackcall.rpc.shm.notes.PipeNote;
import dev.rackcall.rpc.shm.notes.ProcessId;
import dev.rackcall.shm.os.file.Mapping;
import dev.rackcall.shm.os.file.SharedFile;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What an observer reads in the memory of a gRPC connection, also of a hostile one. */
@Timeout(120)
class PipeConnectionMemoryTest {
    private static final long SEED = Long.getLong("rackcall.seed", System.nanoTime());
    private static final int CASES = Integer.getInteger("rackcall.cases", 2000);
    private static final long NOTES = 2048;
    private static final long CLIENT = 2176;
    private static final long SERVER = 2304;

    private static SharedFile memory(String name) {
        SharedFile file = SharedFile.memfd(PipeNote.NAME + name, 2 * PipeNote.PAGE_BYTES);
        file.reserve(0, file.bytes());
        return file;
    }

    private static Path pathOf(SharedFile file) {
        return Path.of("/proc/self/fd/" + file.fd());
    }

    private static PipeConnectionMemory open(SharedFile file) throws IOException, InvalidMemoryException {
        return PipeConnectionMemory.open(pathOf(file)).orElseThrow();
    }

    @Test
    void shouldReadWhatBothEndsTell() throws Exception {
        try (SharedFile file = memory("/view/pipes");
                Mapping mapping = file.map()) {
            assertThat(PipeConnectionMemory.open(pathOf(file)))
                    .as("unwritten memory")
                    .isEmpty();
            PipeNote server = PipeNote.write(mapping.memory(), true);
            try (PipeConnectionMemory observed = open(file)) {
                server.callBegins();
                ConnectionReading alone = observed.read();
                assertThat(alone.server()).isEqualTo(ProcessId.current());
                assertThat(alone.client().isKnown()).isFalse();
                assertThat(alone.requests()).isEqualTo(1);
                assertThat(alone.inFlight()).isEqualTo(1);

                PipeNote client = PipeNote.write(mapping.memory(), false);
                for (int call = 0; call < 5; call++) {
                    client.callBegins();
                }
                client.callEnds();
                ConnectionReading both = observed.read();
                assertThat(both.client()).isEqualTo(ProcessId.current());
                assertThat(both.requests()).as("the client's count").isEqualTo(5);
                assertThat(both.inFlight()).isEqualTo(4);
                assertThat(both.times().timed()).isZero();
                assertThat(observed.arenas()).isEmpty();

                assertThat(both.state()).isEqualTo(ConnectionState.OPEN);
                server.drains();
                assertThat(observed.read().state()).isEqualTo(ConnectionState.DRAINING);
                client.ends();
                client.drains();
                assertThat(observed.read().state()).isEqualTo(ConnectionState.ENDED);
            }
        }
    }

    /** Calls may end after their connection, on any thread. */
    @Test
    void shouldCountNothingInUnmappedMemory() {
        try (SharedFile file = memory("/view/unmapped")) {
            Mapping mapping = file.map();
            PipeNote note = PipeNote.write(mapping.memory(), false);
            mapping.close();
            note.callBegins();
            note.callEnds();
            note.drains();
            note.ends();
        }
    }

    @Test
    void shouldExplainWhatMakesNoSense() throws Exception {
        try (SharedFile file = memory("/view/wrong");
                Mapping mapping = file.map()) {
            MemorySegment memory = mapping.memory();
            memory.set(ValueLayout.JAVA_LONG, NOTES, 42);
            assertThatThrownBy(() -> open(file)).isInstanceOf(InvalidMemoryException.class);
            PipeNote.write(memory, false);
            try (PipeConnectionMemory observed = open(file)) {
                memory.set(ValueLayout.JAVA_LONG, CLIENT + 16, 7);
                assertThatThrownBy(observed::read).hasMessage("it counts 0 calls begun and 7 ended");
                memory.set(ValueLayout.JAVA_LONG, CLIENT + 24, Long.MAX_VALUE);
                assertThatThrownBy(observed::read).hasMessageContaining(" and 7 ended");
                // Their difference overflows to 6.
                memory.set(ValueLayout.JAVA_LONG, CLIENT + 24, Long.MIN_VALUE + 5);
                memory.set(ValueLayout.JAVA_LONG, CLIENT + 16, Long.MAX_VALUE);
                assertThatThrownBy(observed::read).hasMessageContaining(" calls begun and " + Long.MAX_VALUE);
                memory.set(ValueLayout.JAVA_LONG, CLIENT + 24, -7);
                memory.set(ValueLayout.JAVA_LONG, CLIENT + 16, -7);
                assertThatThrownBy(observed::read).hasMessage("it counts -7 calls begun and -7 ended");
                memory.set(ValueLayout.JAVA_LONG, CLIENT + 24, 7);
                memory.set(ValueLayout.JAVA_LONG, CLIENT + 16, 7);
                assertThat(observed.read().inFlight()).isZero();
                for (int state : new int[] {-1, 3, Integer.MIN_VALUE, Integer.MAX_VALUE}) {
                    memory.set(ValueLayout.JAVA_INT, SERVER + 8, state);
                    assertThatThrownBy(observed::read).hasMessageContaining("states");
                }
                memory.set(ValueLayout.JAVA_LONG, NOTES, 0);
                assertThatThrownBy(observed::read).hasMessage("its header was overwritten");
            }
        }
        try (SharedFile file = SharedFile.memfd(PipeNote.NAME + "/view/short", 1)) {
            assertThat(PipeConnectionMemory.open(pathOf(file)))
                    .as("a page of zeros")
                    .isEmpty();
        }
    }

    /** Whatever the memory holds, the observer gets numbers within bounds or an explanation. */
    @Test
    void shouldSurviveAnyContent() throws Exception {
        Random random = new Random(SEED);
        byte[] noise = new byte[(int) PipeNote.PAGE_BYTES];
        try (SharedFile file = memory("/view/hostile");
                Mapping mapping = file.map()) {
            MemorySegment memory = mapping.memory();
            PipeNote.write(memory, false);
            int refused = 0;
            try (PipeConnectionMemory observed = open(file)) {
                for (int i = 0; i < CASES; i++) {
                    // Some words of a sound page, or all of it.
                    if (i % 2 == 0) {
                        random.nextBytes(noise);
                        MemorySegment.copy(noise, 0, memory, ValueLayout.JAVA_BYTE, 0, noise.length);
                    } else {
                        memory.fill((byte) 0);
                    }
                    PipeNote.write(memory, false);
                    for (int words = random.nextInt(4); words > 0; words--) {
                        memory.set(ValueLayout.JAVA_INT, NOTES + 4L * random.nextInt(96), random.nextInt());
                    }
                    try {
                        ConnectionReading reading = observed.read();
                        assertThat(reading.inFlight())
                                .as("seed %d, case %d", SEED, i)
                                .isBetween(0, 1 << 30);
                        assertThat(reading.requests())
                                .as("seed %d, case %d", SEED, i)
                                .isNotNegative();
                    } catch (InvalidMemoryException e) {
                        refused++;
                    }
                }
            }
            assertThat(refused).as("seed %d", SEED).isGreaterThanOrEqualTo(CASES / 2 - 1);
        }
    }
}
