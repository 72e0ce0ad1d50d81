package dev.rackcall.rpc.isolation;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.isolation.Vault.Coin;
import dev.rackcall.testkit.Await;
import java.lang.management.ManagementFactory;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Calls allocate nothing at the caller, neither for values nor for shared objects. */
class CallAllocationTest extends VaultFixture {
    /**
     * The first rounds run in the interpreter and create what is kept. A later round may meet a rare path, such as a
     * late look at the clock.
     */
    private static final int ROUNDS = 500;

    /** Few calls, because a call whose answer takes longer than the first polls allocates, which is most of them on a busy machine. */
    private static final int CALLS = 20;

    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private final VaultService service = new VaultService();
    private RpcChannel channel;

    @BeforeEach
    void start() throws Exception {
        serve(Vault.class, service);
        channel = open(Vault.class);
    }

    @Test
    void shouldAllocateNothingForValues() {
        Vault vault = channel.stub(Vault.class);
        assertThat(leastAllocatedBy(() -> vault.plain(7))).isZero();
    }

    /** The bytes that the polling thread has allocated; it takes the calls, runs their handler and answers. */
    @Test
    void shouldAllocateNothingWhereCallsAreServed() {
        Vault vault = channel.stub(Vault.class);
        vault.plain(7);
        long least = Long.MAX_VALUE;
        long end = System.nanoTime() + Await.BOUND.toNanos();
        for (int round = 0; goesOn(round, end) && least > 0; round++) {
            long thread = service.plainThread;
            boolean same = true;
            long before = THREADS.getThreadAllocatedBytes(thread);
            for (int i = 0; i < CALLS; i++) {
                vault.plain(7);
                // If the machine delays this thread, another one takes over.
                same &= service.plainThread == thread;
            }
            long after = THREADS.getThreadAllocatedBytes(thread);
            least = same ? Math.min(least, after - before) : least;
        }
        assertThat(least).isZero();
    }

    @Test
    void shouldAllocateNothingForWhatIsPassedByPointer() {
        Vault vault = channel.stub(Vault.class);
        Coin coin = coin(channel.newScope(), 3);
        assertThat(leastAllocatedBy(() -> vault.sumTrusted(coin))).isZero();
    }

    @Test
    void shouldAllocateNothingForASnapshot() {
        Vault vault = channel.stub(Vault.class);
        Coin coin = coin(channel.newScope(), 3);
        assertThat(leastAllocatedBy(() -> vault.sum(coin))).isZero();
    }

    private static boolean goesOn(int round, long end) {
        return round < ROUNDS || System.nanoTime() - end < 0;
    }

    private static long leastAllocatedBy(Runnable call) {
        long least = Long.MAX_VALUE;
        long end = System.nanoTime() + Await.BOUND.toNanos();
        for (int round = 0; goesOn(round, end) && least > 0; round++) {
            long before = THREADS.getCurrentThreadAllocatedBytes();
            for (int i = 0; i < CALLS; i++) {
                call.run();
            }
            least = Math.min(least, THREADS.getCurrentThreadAllocatedBytes() - before);
        }
        return least;
    }
}
