package dev.rackcall.rdma;

import static dev.rackcall.testkit.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.rackcall.rdma.end.ForeignPeerException;
import dev.rackcall.rdma.end.Hello;
import dev.rackcall.rdma.end.PeerMemory;
import dev.rackcall.verbs.Gid;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;

class PairHelloTest {
    private static final int LENGTH_AT = 8;
    private static final int QUEUE_PAIR_AT = 28;
    private static final int BYTES_AT = 44;

    private static final PairHello HELLO = new PairHello(
            new Gid(0x1122334455667788L, 0x99aabbccddeeff00L),
            0xabcdef,
            0x123456,
            new Hello(
                    new PeerMemory(0x7f00_1234_5000L, 0x89abcdef, 1 << 20),
                    42_000_000_000L,
                    ByteBuffer.wrap(new byte[] {1, 2, 3})));

    private static byte[] frame() throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        HELLO.write(out);
        return out.toByteArray();
    }

    private static PairHello read(byte[] frame) throws IOException, ForeignPeerException {
        return PairHello.read(new ByteArrayInputStream(frame));
    }

    @Test
    void shouldReadWhatWasWritten() throws Exception {
        assertThat(read(frame())).isEqualTo(HELLO);
    }

    @Test
    void shouldRefuseAGreetingThatEndsEarlyWhereverThatIs() throws Exception {
        byte[] frame = frame();
        assertThrown(EOFException.class, () -> read(new byte[0]), "hung up");
        for (int length = 1; length < frame.length; length++) {
            byte[] cut = Arrays.copyOf(frame, length);
            assertThatThrownBy(() -> read(cut))
                    .as("cut after %d bytes", length)
                    .isInstanceOf(ForeignPeerException.class);
        }
    }

    @Test
    void shouldRefuseAnotherProtocol() {
        assertThrown(
                ForeignPeerException.class,
                () -> read("GET / HTTP/1.1\r\nHost: peer\r\n\r\n".getBytes(StandardCharsets.US_ASCII)),
                "does not speak Rackcall");
    }

    @Test
    void shouldAllocateNothingForALengthThatMakesNoSense() throws Exception {
        for (int length : new int[] {-1, 0, 51, Integer.MAX_VALUE}) {
            byte[] frame = frame();
            ByteBuffer.wrap(frame).putInt(LENGTH_AT, length);
            assertThrown(ForeignPeerException.class, () -> read(frame), "claims " + length + " bytes");
        }
    }

    @Test
    void shouldRefuseNumbersThatDoNotFit() throws Exception {
        byte[] number = frame();
        ByteBuffer.wrap(number).putInt(QUEUE_PAIR_AT, 1 << 24);
        assertThrown(ForeignPeerException.class, () -> read(number), "24 bits");
        for (long bytes : new long[] {0, -1, Long.MAX_VALUE}) {
            byte[] memory = frame();
            ByteBuffer.wrap(memory).putLong(BYTES_AT, bytes);
            assertThrown(ForeignPeerException.class, () -> read(memory), "no memory");
        }
    }

    @Test
    void shouldEndInAGreetingOrARefusalForAnyBytes() throws Exception {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        byte[] whole = frame();
        for (int i = 0; i < 20_000; i++) {
            byte[] frame = whole.clone();
            for (int j = random.nextInt(4); j >= 0; j--) {
                frame[random.nextInt(frame.length)] = (byte) random.nextInt(256);
            }
            try {
                assertThat(read(frame).hello().memory().bytes())
                        .as("seed %d", seed)
                        .isPositive();
            } catch (ForeignPeerException e) {
                assertThat(e).as("seed %d", seed).hasMessageStartingWith("it");
            }
        }
    }
}
