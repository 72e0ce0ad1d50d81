package dev.rackcall.cp;

import dev.rackcall.cp.client.AgentFolder;
import dev.rackcall.verbs.Completions;
import dev.rackcall.verbs.MemoryRegion;
import dev.rackcall.verbs.WorkRequest;
import java.nio.file.Path;

/**
 * A tenant of an agent process, to be killed during its requests. Arguments: the folder, and a peer's name, address and
 * key. Prints its region when the first request has ended.
 */
public final class MortalTenant {
    private static final long BOUND_NANOS = 120_000_000_000L;

    private MortalTenant() {}

    public static void main(String[] arguments) {
        Tenant tenant = AgentFolder.join(Path.of(arguments[0]), "mortal");
        MemoryRegion region = Hosts.region(tenant, 4096);
        VirtualQueue queue = tenant.connect(HostId.named(arguments[1]));
        WorkRequest request = WorkRequest.create(1, 0)
                .fetchAndAdd(Long.parseLong(arguments[2]), Integer.parseInt(arguments[3]), 1)
                .from(region, 0, 8)
                .signaled();
        Completions batch = Completions.create(16);
        boolean isKnown = false;
        for (long start = System.nanoTime(); System.nanoTime() - start < BOUND_NANOS; ) {
            queue.push(request);
            if (queue.pop(batch) > 0 && !isKnown) {
                isKnown = true;
                System.out.println(region.address() + " " + region.remoteKey());
                System.out.flush();
            }
        }
    }
}
