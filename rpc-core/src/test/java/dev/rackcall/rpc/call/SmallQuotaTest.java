package dev.rackcall.rpc.call;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.contract.Echo;
import dev.rackcall.rpc.contract.EchoService;
import dev.rackcall.rpc.contract.RpcFixture;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Arenas that have room for a few payloads only. */
class SmallQuotaTest extends RpcFixture {
    private static final long QUOTA = 4 << 20;
    /** Each keeps memory for its next payload. */
    private static final int SLOTS = 128;

    private static final int MAX_PAYLOAD = 100_000;
    private static final int CALLS = 4000;

    /** One thread, so never more than one payload at a time. */
    @Test
    void shouldNotFillArenasWithMemoryThatIdleSlotsKeep() {
        serve(serving(Echo.class, new EchoService()).arenaQuota(QUOTA));
        Random random = new Random(7);
        try (RpcChannel channel =
                channel(Echo.class).arenaQuota(QUOTA).slots(SLOTS).open()) {
            Echo echo = channel.stub(Echo.class);
            for (int i = 0; i < CALLS; i++) {
                byte[] payload = new byte[random.nextInt(MAX_PAYLOAD)];
                random.nextBytes(payload);
                assertThat(echo.bytes(payload)).isEqualTo(payload);
            }
        }
    }
}
