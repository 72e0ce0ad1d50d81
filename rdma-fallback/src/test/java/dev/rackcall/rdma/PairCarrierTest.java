package dev.rackcall.rdma;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.rpc.spi.CarrierProvider;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.URI;
import java.time.Duration;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Two carriers over queue pairs of their own, connected over TCP. */
class PairCarrierTest extends CarrierContract {
    private final Faults faults = Faults.at("127.0.0.1", 1);

    @Override
    protected CarrierProvider provider() {
        return new RdmaCarriers();
    }

    @Override
    protected URI anyPort() {
        return URI.create("rdma://127.0.0.1:0");
    }

    @Override
    protected void slow(Duration delay) {
        faults.slow(delay);
    }

    @Override
    protected int manyPieces() {
        return 3000;
    }

    @Override
    protected void closeProvider() {
        faults.close();
    }

    private PairCarrier carrier() {
        return (PairCarrier) client;
    }

    /** Required: a push of a scope of which 1 % has changed moves at most 5 % of its bytes. */
    @Test
    void shouldCarryOnlyWhatHasChanged() throws Exception {
        Random random = new Random(7);
        int words = (BYTES - 4096) / 8;
        for (int i = 0; i < words; i++) {
            near.set(ValueLayout.JAVA_LONG, i * 8L, random.nextLong());
        }
        client.carryChanged(0, words * 8L);
        assertThat(carrier().carriedBytes()).isEqualTo(words * 8L);
        for (int i = 0; i < words / 100; i++) {
            near.set(ValueLayout.JAVA_LONG, random.nextInt(words) * 8L, random.nextLong());
        }

        client.carryChanged(0, words * 8L);
        client.publish(FLAG, 1);

        awaitFar(1);
        assertThat(carrier().carriedBytes() - words * 8L).isBetween(words / 100 * 4L, words * 8L / 20);
        assertThat(far.asSlice(0, words * 8L).mismatch(near.asSlice(0, words * 8L)))
                .isEqualTo(-1);
    }

    /** A look reads the device's sockets. A thread that looks at many connections reads them once a round. */
    @Test
    void shouldMoveTheTrafficOnceForAllConnectionsThatAreLookedAtInTurn() throws Exception {
        RdmaDevice device = RdmaDevice.acquire(DeviceKind.BEST, InetAddress.getLoopbackAddress());
        try {
            client.publish(FLAG, 1);
            awaitFar(1);
            long before = device.moves();
            for (int round = 0; round < 1000; round++) {
                client.look();
                server.look();
            }
            assertThat(device.moves() - before).isBetween(900L, 1100L);
        } finally {
            device.release();
        }
    }

    /**
     * The peer accepts 256 requests in two seconds. A push of a thousand more than may wait would delay all threads for
     * that long, repeatedly.
     */
    @Test
    void shouldNotWaitAgainAndAgainForAPeerThatTakesLittle() {
        slow(Duration.ofMillis(1900));
        changeWords(5400);
        assertThat(client.carryChanged(0, 5400 * 192)).isFalse();
        assertThat(carrier().hasEnded()).isTrue();
    }

    @Test
    void shouldNotKeepMoreForAPeerThanItHasRoomFor() {
        slow(Duration.ofMinutes(1));
        changeWords(5000);
        assertThat(client.carryChanged(0, 5000 * 192)).isFalse();
        assertThat(carrier().hasEnded()).isTrue();
    }
}
