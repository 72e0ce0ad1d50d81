package dev.rackcall.cli.view;

import dev.rackcall.cli.top.TopReport;
import dev.rackcall.cli.view.RackReport.RackAgent;
import dev.rackcall.cli.view.ViewState.ConnectionEdge;
import dev.rackcall.cli.view.ViewState.ProcessNode;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcException;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;

/** Watches another host by its agent, which is not trusted: what it tells is checked, and may come late or never. */
final class AgentWatch implements ViewSampler.Watch {
    /** For connecting, for an answer, and for news: the agent's host tells some each second. */
    private static final Duration BOUND = Duration.ofSeconds(3);

    private static final long PAUSE_MILLIS = 300;
    private static final long ARENA_BYTES = 1 << 20;

    private final RpcChannel channel;
    private final HostView agent;
    private ViewState last = HostStates.NOTHING;

    AgentWatch(RpcChannel channel) {
        this.channel = channel;
        try {
            this.agent = channel.stub(HostView.class);
        } catch (RpcException e) {
            channel.close();
            throw e;
        }
    }

    /** Follows a host. */
    static ViewSampler follow(RackAgent agent, String explainOptions) {
        ViewHistory history = new ViewHistory(agent.host(), explainOptions, _ -> Optional.empty());
        return ViewSampler.start(history, () -> of(agent), ViewSampler.PATIENCE);
    }

    private static AgentWatch of(RackAgent agent) throws IOException {
        try {
            return new AgentWatch(open(RpcChannel.builder(HostView.CHANNEL).address(agent.address()), BOUND));
        } catch (RpcException e) {
            throw new ViewSampler.UnseenHostException("its agent cannot be reached: " + e.getMessage());
        }
    }

    /** Opens a channel that waits for nothing longer than {@code bound}. */
    static RpcChannel open(RpcChannel.Builder channel, Duration bound) {
        return channel.connectTimeout(bound)
                .defaultTimeout(bound)
                .arenaQuota(ARENA_BYTES)
                .open();
    }

    @Override
    public boolean watch(BooleanSupplier isLeft) throws IOException, InterruptedException {
        long start = System.nanoTime();
        while (!isLeft.getAsBoolean()) {
            // Before each question: a hostile agent would always have news.
            Thread.sleep(PAUSE_MILLIS);
            Optional<ViewState> news = ask();
            if (news.isPresent()) {
                last = news.get();
                return true;
            }
            if (System.nanoTime() - start > BOUND.toNanos()) {
                throw new ViewSampler.UnseenHostException("its agent has had no news for " + BOUND.toSeconds() + " s");
            }
        }
        return false;
    }

    private Optional<ViewState> ask() throws IOException {
        Optional<ViewState> news;
        try {
            news = agent.latest(last.sequence());
        } catch (RpcException e) {
            throw new ViewSampler.UnseenHostException("its agent does not answer: " + e.getMessage());
        }
        if (news.isPresent()) {
            try {
                HostStates.check(news.get(), last.sequence());
            } catch (IOException e) {
                throw new ViewSampler.UnseenHostException("what its agent tells makes no sense: " + e.getMessage());
            }
            if (news.get().problem().isPresent()) {
                throw new ViewSampler.UnseenHostException(
                        "its agent cannot look: " + news.get().problem().get());
            }
        }
        return news;
    }

    @Override
    public TopReport report() {
        List<TopReport.ProcessRow> processes = last.processes().stream()
                .filter(Predicate.not(ProcessNode::hasEnded))
                .map(ProcessNode::row)
                .toList();
        List<TopReport.ConnectionRow> connections = last.connections().stream()
                .filter(edge -> edge.goneSeconds().isEmpty())
                .map(ConnectionEdge::row)
                .toList();
        return new TopReport(processes, connections, last.notReadable());
    }

    @Override
    public boolean isAlive(int pid) {
        return last.processes().stream()
                .noneMatch(node -> node.hasEnded() && node.row().pid() == pid);
    }

    /** A connection that ended stays in the list for a while, if that has room. */
    @Override
    public boolean isLeftOut(String id) {
        return last.leftOut() > 0
                && last.connections().stream().noneMatch(edge -> edge.row().id().equals(id));
    }

    @Override
    public int leftOut() {
        return last.leftOut();
    }

    @Override
    public void close() {
        channel.close();
    }
}
