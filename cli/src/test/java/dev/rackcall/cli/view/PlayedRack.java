package dev.rackcall.cli.view;

import dev.rackcall.cp.HostId;
import dev.rackcall.cp.Tenant;
import dev.rackcall.cp.agent.Agent;
import dev.rackcall.cp.agent.AgentOptions;
import dev.rackcall.cp.meta.MetaServer;
import dev.rackcall.directory.ChannelName;
import dev.rackcall.directory.Directory;
import dev.rackcall.directory.Endpoint;
import dev.rackcall.rdma.queue.QueueSettings;
import dev.rackcall.testkit.ChildJvm;
import dev.rackcall.verbs.soft.SoftDevice;
import dev.rackcall.verbs.soft.SoftOptions;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;

/** Hosts with agents, played by processes of this one: each agent sees the processes of its host only. For one thread. */
final class PlayedRack implements AutoCloseable {
    private final Path folder;
    private final Deque<AutoCloseable> open = new ArrayDeque<>();
    private final MetaServer meta;
    private final Agent here;
    private final Tenant viewer;

    /** Also has an agent in this process, whose host is "here". */
    PlayedRack(Path folder) throws IOException {
        this.folder = folder;
        Files.createDirectory(processesHere());
        meta = keep(MetaServer.open(device("meta"), 8));
        here = keep(
                Agent.open(device("here"), AgentOptions.of(HostId.named("here")).withMeta(meta::address)));
        viewer = keep(here.admit("view"));
        QueueSettings.use(viewer);
    }

    private static SoftDevice device(String name) {
        return SoftDevice.of("rack-" + name, SoftOptions.local());
    }

    private <T extends AutoCloseable> T keep(T part) {
        open.push(part);
        return part;
    }

    /** A tenant of this process's agent; the caller closes it. */
    Tenant admit(String name) {
        return here.admit(name);
    }

    /** The agents that tell their hosts' numbers, as the directory names them. */
    List<Endpoint> tellers() {
        try (Directory names = Directory.open(directory())) {
            return names.endpoints(ChannelName.of(HostView.CHANNEL));
        }
    }

    URI directory() {
        return folder.resolve("members").toUri();
    }

    /** Like {@code /proc}, without a process. */
    Path processesHere() {
        return folder.resolve("proc-here");
    }

    /** Another host with its agent, which serves. */
    final class Host {
        private final Path processes;
        private final Path runtime;
        private final ChildJvm agent;

        Host(String name) throws IOException, InterruptedException {
            runtime = folder.resolve("run-" + name);
            processes = Files.createDirectory(folder.resolve("proc-" + name));
            agent = keep(ChildJvm.of(ViewAgentChild.class, name, meta.address(), directory(), processes)
                    .mergingErrors()
                    .start());
            agent.awaitLine("serves this host's numbers");
        }

        ChildJvm agent() {
            return agent;
        }

        /** A process of this host, a {@link ShopProcess}. */
        ChildJvm run(String name, Object... arguments) throws IOException {
            ChildJvm process = keep(ShopProcess.named(name, ShopProcess.class, arguments)
                    .directory(runtime)
                    .start());
            show(process.pid());
            return process;
        }

        /** Lets the agent see that process. */
        void show(long pid) throws IOException {
            Files.createSymbolicLink(processes.resolve(Long.toString(pid)), Path.of("/proc", Long.toString(pid)));
        }
    }

    Host host(String name) throws IOException, InterruptedException {
        return new Host(name);
    }

    @Override
    public void close() throws Exception {
        QueueSettings.forget(viewer);
        while (!open.isEmpty()) {
            open.pop().close();
        }
    }
}
