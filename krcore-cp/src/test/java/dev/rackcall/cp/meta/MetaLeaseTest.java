package dev.rackcall.cp.meta;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.cp.HostId;
import dev.rackcall.cp.Hosts;
import dev.rackcall.cp.control.ControlMessage;
import dev.rackcall.cp.control.ControlPort;
import dev.rackcall.cp.control.HostDevice;
import dev.rackcall.cp.control.HostLife;
import dev.rackcall.cp.table.HostRecord;
import dev.rackcall.cp.table.HostRecords;
import dev.rackcall.testkit.Await;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Leases are ages by the meta server's own clock: its origin, its wrap-around and the time of other hosts do not
 * matter.
 */
class MetaLeaseTest {
    private static final Duration LEASE = Duration.ofSeconds(5);
    private static final long NEARLY = LEASE.toNanos() - 1;
    private static final HostId SILENT = HostId.named("silent");
    private static final HostId BUSY = HostId.named("busy");

    private final AtomicLong time = new AtomicLong();
    /** How often the clock was read. */
    private final AtomicLong looks = new AtomicLong();

    private HostDevice end;
    private ControlPort port;
    private MetaServer meta;
    private MetaClient hosts;

    @BeforeEach
    void open() {
        end = new HostDevice(Hosts.device("hosts"));
        port = new ControlPort(end, "hosts", (operation, sender, body) -> new byte[0], () -> {});
        port.start();
        hosts = new MetaClient(end, port, Optional.empty(), new HostLife(SILENT, 1), () -> meta.address());
    }

    @AfterEach
    void close() {
        hosts.close();
        end.close();
        if (meta != null) {
            meta.close();
        }
    }

    private void begin(long now) {
        time.set(now);
        meta = MetaServer.open(Hosts.device("meta"), 4, LEASE, () -> {
            looks.incrementAndGet();
            return time.get();
        });
        hosts.register(SILENT, record(SILENT));
        hosts.register(BUSY, record(BUSY));
        awaitEarlierMessages();
    }

    /** A message that got no reply soon was sent again, and the second copy must not renew a lease later. */
    private void awaitEarlierMessages() {
        ByteBuffer reply = port.ask(meta.address(), ControlMessage.HELLO, new byte[0], Await.BOUND);
        assertThat(reply.hasRemaining()).isTrue();
    }

    private static HostRecord record(HostId host) {
        return HostRecords.record((int) host.value());
    }

    /** Waits until the meta server has checked for expired leases. */
    private void awaitLooks() {
        long before = looks.get();
        Hosts.waitUntil("the meta server to look twice", () -> looks.get() >= before + 2);
    }

    @ParameterizedTest
    @ValueSource(longs = {0, -1, Long.MIN_VALUE, Long.MAX_VALUE - 7_000_000_000L, 3_000_000_000_000_000_000L})
    void shouldEndTheLeasesOfTheSilentOnly(long start) {
        begin(start);
        for (int i = 0; i < 10; i++) {
            time.addAndGet(NEARLY);
            hosts.renew(BUSY, record(BUSY));
            awaitLooks();
            if (i == 0) {
                assertThat(meta.hosts()).as("no lease has ended").isEqualTo(2);
            } else {
                Hosts.waitUntil("the silent host's lease to end", () -> meta.hosts() == 1);
            }
        }
        awaitEarlierMessages();
        time.addAndGet(NEARLY + 2);
        Hosts.waitUntil("all leases to end", () -> meta.hosts() == 0);
    }

    @Test
    void shouldKeepEverybodyWhileItsClockStands() {
        begin(7);
        for (int i = 0; i < 5; i++) {
            awaitLooks();
        }
        assertThat(meta.hosts()).isEqualTo(2);
    }

    @Test
    void shouldKeepEverybodyWhenItsClockIsSetBack() {
        begin(Duration.ofDays(1).toNanos());
        time.addAndGet(-Duration.ofHours(1).toNanos());
        awaitLooks();
        assertThat(meta.hosts()).isEqualTo(2);
        hosts.renew(BUSY, record(BUSY));
        time.addAndGet(NEARLY);
        awaitLooks();
        assertThat(meta.hosts()).isEqualTo(2);
    }

    @Test
    void shouldTakeAHostThatRenewsTooLateAsNew() {
        begin(0);
        time.addAndGet(NEARLY + 2);
        Hosts.waitUntil("all leases to end", () -> meta.hosts() == 0);
        assertThat(hosts.find(BUSY)).isEmpty();

        hosts.renew(BUSY, record(BUSY));

        assertThat(meta.hosts()).isEqualTo(1);
        assertThat(hosts.find(BUSY)).contains(record(BUSY));
    }
}
