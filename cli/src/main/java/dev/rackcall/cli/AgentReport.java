package dev.rackcall.cli;

import dev.rackcall.cp.Agent;
import dev.rackcall.cp.AgentServer;
import dev.rackcall.cp.MetaDirectory;
import dev.rackcall.cp.MetaServer;
import java.util.Optional;
import java.util.function.Consumer;

/** What an agent process tells people while it runs: that it is no longer registered, or named, that it is again, and now and then what it has. Used by one thread. */
final class AgentReport {
    private final Agent agent;
    private final AgentServer server;
    private final Optional<MetaServer> meta;
    private final Optional<MetaDirectory> names;
    private final long everyNanos;
    private final Consumer<String> say;
    private boolean isRegistered;
    private boolean isNamed;
    private long said;

    /**
     * @param everyNanos between two reports; {@link Long#MAX_VALUE} for none
     * @param say takes a line
     */
    AgentReport(
            Agent agent,
            AgentServer server,
            Optional<MetaServer> meta,
            Optional<MetaDirectory> names,
            long everyNanos,
            Consumer<String> say) {
        this.agent = agent;
        this.server = server;
        this.meta = meta;
        this.names = names;
        this.everyNanos = everyNanos;
        this.say = say;
        said = System.nanoTime();
        agent.registrationProblem().ifPresent(problem -> say.accept("not registered yet: " + problem));
        naming().ifPresent(problem -> say.accept("the meta server is not named in the directory yet: " + problem));
        isRegistered = agent.registrationProblem().isEmpty();
        isNamed = naming().isEmpty();
    }

    private Optional<String> naming() {
        return names.flatMap(MetaDirectory::problem);
    }

    /** Says what has changed, and what there is if it is time for that. */
    void look() {
        Optional<String> problem = agent.registrationProblem();
        if (problem.isEmpty() != isRegistered) {
            isRegistered = problem.isEmpty();
            say.accept(problem.map(why -> "not registered any more: " + why).orElse("registered"));
        }
        problem = naming();
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

    /** What there is now. */
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
