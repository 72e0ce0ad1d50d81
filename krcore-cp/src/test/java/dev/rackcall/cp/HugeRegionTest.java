package dev.rackcall.cp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.abort;

import dev.rackcall.cp.agent.Agent;
import dev.rackcall.shm.os.OsException;
import dev.rackcall.shm.os.file.SharedFile;
import dev.rackcall.verbs.Access;
import dev.rackcall.verbs.MemoryRegion;
import dev.rackcall.verbs.WorkRequest;
import java.lang.foreign.ValueLayout;
import java.util.EnumSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Memory regions of huge pages, where the host has some ({@code sysctl vm.nr_hugepages=4}). */
class HugeRegionTest {
    private static final long HUGE = 2 << 20;
    /** An offset beyond the first page. */
    private static final long AT = HUGE + 4096;

    @RegisterExtension
    final Hosts hosts = new Hosts(16);

    private static SharedFile hugePages() {
        try {
            SharedFile file = SharedFile.hugeMemfd("huge-region", 2 * HUGE);
            file.reserve(0, 2 * HUGE);
            return file;
        } catch (OsException e) {
            System.err.println("SKIPPED HugeRegionTest: " + e.getMessage() + "; sysctl vm.nr_hugepages=4");
            return abort(e.getMessage());
        }
    }

    @Test
    void shouldBeReadByPeersFromATenantOfThisProcess() {
        Agent server = hosts.agent("server");
        shouldBeRead(server, server.admit("t"));
    }

    @Test
    void shouldBeReadByPeersFromATenantOfAnotherProcess() throws Exception {
        Agent server = hosts.agent("server");
        shouldBeRead(server, hosts.foreign(server, "t"));
    }

    private void shouldBeRead(Agent server, Tenant owner) {
        MemoryRegion theirs = owner.share(hugePages(), EnumSet.of(Access.LOCAL_WRITE, Access.REMOTE_READ));
        assertThat(theirs.memory().byteSize()).isEqualTo(2 * HUGE);
        theirs.memory().set(ValueLayout.JAVA_LONG, AT, 0xfeed);
        Tenant reader = hosts.agent("client").admit("t");
        MemoryRegion ours = Hosts.region(reader, 64);
        VirtualQueue queue = reader.connect(server.host());

        WorkRequest read = WorkRequest.create(1, 0).read(theirs.address() + AT, theirs.remoteKey());
        Hosts.does(queue, read.from(ours, 0, 8).id(1).signaled());
        assertThat(ours.memory().get(ValueLayout.JAVA_LONG, 0)).isEqualTo(0xfeed);
    }
}
