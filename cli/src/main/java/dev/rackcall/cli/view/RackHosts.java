package dev.rackcall.cli.view;

import dev.rackcall.cli.view.RackReport.RackAgent;
import dev.rackcall.cli.view.RackView.OtherHost;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * Follows the agents of other hosts while the page is open, each with a thread of its own, so that one that does not
 * answer delays no other. A host whose agent is gone stays for a minute, because it is what an operator looks for. One
 * thread changes the agents; any thread may read.
 */
final class RackHosts implements AutoCloseable {
    static final int MOST_HOSTS = 64;
    /** Of all hosts together. */
    private static final int MOST_CONNECTIONS = 1000;

    private static final int LEAST_CONNECTIONS = 10;

    private final Function<RackAgent, ViewSampler> start;
    private final Duration kept;
    private volatile Map<String, Host> hosts = Map.of();
    private volatile int leftOut;

    /** An agent that is named, or was. */
    private record Host(RackAgent agent, ViewSampler sampler, Optional<Long> goneNanos) {
        boolean isKept(Map<String, RackAgent> named, long keptNanos) {
            return named.containsKey(agent.id())
                    || (goneNanos
                                    .filter(since -> System.nanoTime() - since > keptNanos)
                                    .isEmpty()
                            && named.values().stream()
                                    .noneMatch(each -> each.host().equals(agent.host())));
        }

        OtherHost told(int most) {
            ViewState state = sampler.latest();
            return new OtherHost(agent.id(), HostStates.fit(state, most), sampler.isOld(state));
        }

        Host next(boolean isNamed) {
            return new Host(
                    agent, sampler, isNamed ? Optional.empty() : goneNanos.or(() -> Optional.of(System.nanoTime())));
        }
    }

    /**
     * @param start begins to follow an agent
     * @param kept how long an agent is shown that nothing names any more
     */
    RackHosts(Function<RackAgent, ViewSampler> start, Duration kept) {
        this.start = start;
        this.kept = kept;
    }

    /** Follows these agents, and no others; if there are too many, the first ones. */
    void follow(List<RackAgent> agents) throws InterruptedException {
        Map<String, RackAgent> named = agents.stream()
                .limit(MOST_HOSTS)
                .collect(Collectors.toMap(RackAgent::id, each -> each, (a, _) -> a, LinkedHashMap::new));
        Map<String, Host> before = hosts;
        Map<String, Host> next = new LinkedHashMap<>();
        before.forEach((id, host) -> {
            if (host.isKept(named, kept.toNanos())) {
                next.put(id, host.next(named.containsKey(id)));
            }
        });
        named.forEach((id, agent) -> {
            if (!next.containsKey(id) && next.size() < MOST_HOSTS) {
                next.put(id, new Host(agent, start.apply(agent), Optional.empty()));
            }
        });
        Set<String> followed =
                next.values().stream().map(host -> host.agent().host()).collect(Collectors.toSet());
        leftOut = (int) agents.stream()
                .map(RackAgent::host)
                .filter(Predicate.not(followed::contains))
                .distinct()
                .count();
        hosts = next;
        close(before.values().stream()
                .filter(host -> !next.containsKey(host.agent().id()))
                .toList());
    }

    /** Hosts whose agents are named, but not followed because there are too many. */
    int leftOut() {
        return leftOut;
    }

    /** What each agent has told last, or why it has not. While this is called, agents are asked. */
    List<OtherHost> states() {
        Map<String, Host> all = hosts;
        int most = mostConnections(all.size());
        return all.values().stream().map(host -> host.told(most)).toList();
    }

    /** The last minutes of the connections in {@link #states}. */
    Map<String, ViewSeries> series() {
        Map<String, Host> all = hosts;
        int most = mostConnections(all.size());
        return all.values().stream()
                .collect(Collectors.toMap(host -> host.agent().id(), host -> {
                    ViewSeries series = host.sampler().series();
                    Map<String, ViewSeries.Numbers> shown = new HashMap<>(series.connections());
                    shown.keySet()
                            .retainAll(HostStates.fit(host.sampler().latest(), most).connections().stream()
                                    .map(edge -> edge.row().id())
                                    .toList());
                    return new ViewSeries(series.times(), shown);
                }));
    }

    private static int mostConnections(int hosts) {
        return Math.clamp(MOST_CONNECTIONS / Math.max(1, hosts), LEAST_CONNECTIONS, HostStates.MOST_CONNECTIONS);
    }

    @Override
    public void close() throws InterruptedException {
        Map<String, Host> all = hosts;
        hosts = Map.of();
        close(all.values());
    }

    /** Closes all of them, also if this thread is interrupted meanwhile. */
    private static void close(Collection<Host> ended) throws InterruptedException {
        InterruptedException interrupted = null;
        for (Host host : ended) {
            try {
                host.sampler().close();
            } catch (InterruptedException e) {
                interrupted = e;
            }
        }
        if (interrupted != null) {
            throw interrupted;
        }
    }
}
