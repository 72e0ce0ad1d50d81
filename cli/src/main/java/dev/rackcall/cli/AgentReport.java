package dev.rackcall.cli;

import dev.rackcall.cp.agent.Agent;
import dev.rackcall.cp.meta.MetaServer;
import dev.rackcall.cp.server.AgentServer;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * The output of a running agent process: when it is registered or named, when that ends, and periodic totals. Used by
 * one thread.
 */
final class AgentReport {
    private final Agent agent;
    private final AgentServer server;
    private final Optional<MetaServer> meta;
    private final Supplier<Optional<String>> naming;
    private final long everyNanos;
    private final Consumer<String> say;
    private boolean isRegistered;
    private boolean isNamed;
    private long said;

    /**
     * @param naming the reason why the meta server is not named in the directory; empty if it is
     * @param everyNanos the interval of totals; {@link Long#MAX_VALUE} for none
     * @param say prints a line
     */
    AgentReport(
            Agent agent,
            AgentServer server,
            Optional<MetaServer> meta,
            Supplier<Optional<String>> naming,
            long everyNanos,
            Consumer<String> say) {
        this.agent = agent;
        this.server = server;
        this.meta = meta;
        this.naming = naming;
        this.everyNanos = everyNanos;
        this.say = say;
        said = System.nanoTime();
        // Each is read once, so that no change between two reads is missed.
        Optional<String> unregistered = agent.registrationProblem();
        unregistered.ifPresent(problem -> say.accept("not registered yet: " + problem));
        isRegistered = unregistered.isEmpty();
        Optional<String> unnamed = naming.get();
        unnamed.ifPresent(problem -> say.accept("the meta server is not named in the directory yet: " + problem));
        isNamed = unnamed.isEmpty();
    }

    /** Prints changes, and the totals if they are due. */
    void look() {
        Optional<String> problem = agent.registrationProblem();
        if (problem.isEmpty() != isRegistered) {
            isRegistered = problem.isEmpty();
            say.accept(problem.map(why -> "no longer registered: " + why).orElse("registered"));
        }
        problem = naming.get();
        if (problem.isEmpty() != isNamed) {
            isNamed = problem.isEmpty();
            say.accept(problem.map(why -> "the meta server is not named in the directory: " + why)
                    .orElse("the directory names the meta server"));
        }
        if (System.nanoTime() - said >= everyNanos) {
            said = System.nanoTime();
            say.accept(all());
        }
    }

    /** The current totals. */
    String all() {
        int tenants = server.tenants();
        String mine = "%s, %,d queue pairs, %s known in %,d bytes"
                .formatted(
                        tenants == 1 ? "1 tenant" : tenants + " tenants",
                        agent.queuePairs(),
                        hosts(agent.knownHosts()),
                        agent.knownHostsBytes());
        return mine
                + meta.map(each -> "; meta server: %s in a table of %,d bytes"
                                .formatted(hosts(each.hosts()), each.tableBytes()))
                        .orElse("");
    }

    private static String hosts(int count) {
        return count == 1 ? "1 host" : "%,d hosts".formatted(count);
    }
}
