package dev.rackcall.cp;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.cp.agent.Agent;
import dev.rackcall.verbs.CompletionStatus;
import dev.rackcall.verbs.Completions;
import dev.rackcall.verbs.MemoryRegion;
import dev.rackcall.verbs.QueuePairState;
import dev.rackcall.verbs.WorkRequest;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Ten tenants count in a peer's memory while an eleventh posts random requests over the same queue pair. The property
 * {@code rackcall.cp.requests} sets the number of requests of the ten together.
 */
@Timeout(1200)
class HostileTenantTest {
    private static final int REQUESTS = Integer.getInteger("rackcall.cp.requests", 20_000);
    private static final int HONEST = 10;
    private static final int BURST = 4;

    private final WorkRequest garbage = WorkRequest.create(6, 128);
    private final Completions batch = Completions.create(16);

    /** An honest tenant and its counts. */
    private static final class Honest {
        final VirtualQueue queue;
        final MemoryRegion ours;
        final long counter;
        final WorkRequest request = WorkRequest.create(1, 0);
        long pushed;
        long popped;

        Honest(Tenant tenant, HostId host, MemoryRegion theirs, int number) {
            queue = tenant.connect(host);
            ours = Hosts.region(tenant, 64);
            counter = theirs.address() + number * 8L;
            request.fetchAndAdd(counter, theirs.remoteKey(), 1).from(ours, 0, 8).signaled();
        }

        void push() {
            for (int i = 0; i < BURST && queue.push(request.id(pushed)); i++) {
                pushed++;
            }
        }

        void pop(Completions batch) {
            int count = queue.pop(batch);
            for (int i = 0; i < count; i++) {
                assertThat(batch.status(i)).isEqualTo(CompletionStatus.SUCCESS);
                assertThat(batch.id(i)).isEqualTo(popped++);
            }
        }
    }

    /** The hosts, on the kind of devices to test. */
    Hosts newHosts() {
        return new Hosts(4);
    }

    /** The tenant that pushes and pops. */
    Tenant admit(Hosts hosts, Agent agent, String name) {
        return agent.admit(name);
    }

    @Test
    void shouldHarmItselfOnly() throws Exception {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        try (Hosts hosts = newHosts()) {
            Agent server = hosts.agent("server");
            MemoryRegion theirs = Hosts.region(server.admit("t"), 4096);
            Agent agent = hosts.agent("client");
            List<Honest> honest = new ArrayList<>();
            for (int i = 0; i < HONEST; i++) {
                honest.add(new Honest(admit(hosts, agent, "honest " + i), server.host(), theirs, i));
            }
            Tenant hostile = admit(hosts, agent, "hostile");
            MemoryRegion own = Hosts.region(hostile, 4096);
            VirtualQueue queue = hostile.connect(server.host());
            long refused = 0;
            while (honest.stream().mapToLong(each -> each.popped).sum() < REQUESTS) {
                if (queue.state() == QueuePairState.ERROR) {
                    refused++;
                    queue.close();
                    queue = hostile.connect(server.host());
                }
                WorkRequest next = garble(random, own, honest.get(random.nextInt(HONEST)).ours, theirs);
                try {
                    queue.push(next);
                } catch (ControlPlaneException failedMeanwhile) {
                    // Another thread of the agent may have just refused the last request.
                    assertThat(failedMeanwhile.kind()).isEqualTo(ControlPlaneException.Kind.QUEUE_FAILED);
                }
                for (Honest each : honest) {
                    each.push();
                    each.pop(batch);
                }
            }
            for (Honest each : honest) {
                Hosts.waitUntil("the last of seed " + seed, () -> {
                    each.pop(batch);
                    return each.popped == each.pushed;
                });
                long counted = theirs.memory().get(ValueLayout.JAVA_LONG, each.counter - theirs.address());
                assertThat(counted).as("counter, seed %d", seed).isEqualTo(each.pushed);
                assertThat(each.queue.state()).isEqualTo(QueuePairState.READY_TO_SEND);
            }
            assertThat(refused).as("refusals, seed %d", seed).isPositive();
            assertThat(agent.recoveries())
                    .as("invalid requests never reach the device, seed %d", seed)
                    .isZero();
        }
    }

    /** Makes a random request, which may be valid by chance. It never writes to the counters of the honest tenants. */
    private WorkRequest garble(Random random, MemoryRegion own, MemoryRegion foreign, MemoryRegion theirs) {
        long address = theirs.address() + 512 + random.nextInt(8192);
        int key = random.nextInt(4) == 0 ? random.nextInt() : theirs.remoteKey();
        switch (random.nextInt(6)) {
            case 0 -> garbage.write(address, key);
            case 1 -> garbage.read(address, key);
            case 2 -> garbage.compareAndSwap(address, key, 0, 1);
            case 3 -> garbage.fetchAndAdd(address, key, 1);
            case 4 -> garbage.send();
            default -> garbage.writeWithImmediate(address, key, 1);
        }
        int segments = random.nextInt(6);
        for (int i = 0; i < segments; i++) {
            MemoryRegion region = random.nextInt(4) == 0 ? foreign : own;
            garbage.from(
                    region.address() + random.nextInt(128) - 8,
                    random.nextInt(16) == 0 ? random.nextInt() : random.nextInt(4096),
                    region.localKey());
        }
        if (random.nextInt(8) == 0) {
            garbage.inline(own.memory(), 0, random.nextInt(128));
        }
        if (random.nextInt(8) == 0) {
            // The operation code, which the methods above always set correctly.
            garbage.struct().set(ValueLayout.JAVA_INT, 28, random.nextInt());
        }
        return garbage.signaled();
    }
}
