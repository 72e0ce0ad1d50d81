package dev.rackcall.cp.meta;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.cp.HostId;
import dev.rackcall.cp.Hosts;
import dev.rackcall.cp.control.ControlPort;
import dev.rackcall.cp.control.HostDevice;
import dev.rackcall.cp.control.HostLife;
import dev.rackcall.cp.table.HostRecords;
import dev.rackcall.cp.table.TableReader;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A meta server at its capacity, with hosts that register by control messages. */
@Timeout(300)
class MetaServerTest {
    private static final int HOSTS = 10_000;
    /** Four places of 64 bytes for each host, in a table whose size is a power of two. */
    private static final long MOST_BYTES = 2L * 4 * 64 * HOSTS + 1024;

    @Test
    void shouldKnowTenThousandHostsInMemoryThatItTells() {
        try (MetaServer meta = MetaServer.open(Hosts.device("meta"), HOSTS, Hosts.LONG_LEASE.multipliedBy(10));
                HostDevice end = new HostDevice(Hosts.device("hosts"))) {
            long bytes = meta.tableBytes();
            assertThat(bytes).isBetween(64L * HOSTS, MOST_BYTES);
            ControlPort port = new ControlPort(end, "hosts", (operation, sender, body) -> new byte[0], () -> {});
            port.start();
            Optional<TableReader> reader = end.isDynamic() ? Optional.of(TableReader.ofAll(end)) : Optional.empty();
            try (MetaClient client = new MetaClient(end, port, reader, new HostLife(new HostId(1), 1), meta::address)) {
                for (int host = 1; host <= HOSTS; host++) {
                    client.register(new HostId(host), HostRecords.record(host));
                }
                assertThat(meta.hosts()).isEqualTo(HOSTS);
                for (int host = 1; host <= HOSTS; host++) {
                    assertThat(client.find(new HostId(host))).contains(HostRecords.record(host));
                }
                assertThat(client.find(new HostId(HOSTS + 1L))).isEmpty();
                client.renew(new HostId(7), HostRecords.record(7));
                assertThat(meta.hosts()).isEqualTo(HOSTS);
                assertThat(meta.tableBytes()).isEqualTo(bytes);
            }
        }
    }
}
