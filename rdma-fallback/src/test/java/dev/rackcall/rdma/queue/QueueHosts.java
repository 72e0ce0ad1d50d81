package dev.rackcall.rdma.queue;

import dev.rackcall.cp.HostId;
import dev.rackcall.cp.Tenant;
import dev.rackcall.cp.agent.Agent;
import dev.rackcall.cp.agent.AgentOptions;
import dev.rackcall.cp.client.AgentFolder;
import dev.rackcall.cp.meta.MetaServer;
import dev.rackcall.cp.server.AgentServer;
import dev.rackcall.testkit.Usage;
import dev.rackcall.verbs.Device;
import dev.rackcall.verbs.Devices;
import dev.rackcall.verbs.soft.FaultPlan;
import dev.rackcall.verbs.soft.SoftDevice;
import dev.rackcall.verbs.soft.SoftOptions;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

/**
 * Two hosts of this process over software devices, a meta server, and a tenant of each: clients are on one, servers on
 * the other.
 */
public final class QueueHosts implements AutoCloseable {
    public static final String CLIENT = "client";
    public static final String SERVER = "server";

    private static final String DEVICE_PROPERTY = "rackcall.queue.device";
    /**
     * The tests run over software devices, or over the one that {@code -Drackcall.queue.device} names. Then it serves
     * all hosts, and no faults can be injected.
     */
    private static final Optional<String> REAL = Optional.ofNullable(System.getProperty(DEVICE_PROPERTY));

    private final FaultPlan faults = FaultPlan.withSeed(1);
    private final UnaryOperator<Device> change;
    private final MetaServer meta;
    private final Agent near;
    private final Agent far;
    /** The agents' folder, if they are served. */
    private final Optional<Path> folder;

    private final Map<String, AgentServer> doors = new HashMap<>();
    private final Tenant clients;
    private final Tenant servers;

    private QueueHosts(Optional<Path> folder, UnaryOperator<Device> change) {
        this.folder = folder;
        this.change = change;
        meta = MetaServer.open(device("meta"), 16, Duration.ofMinutes(1));
        near = agent(CLIENT);
        far = agent(SERVER);
        clients = admit(near, CLIENT);
        servers = admit(far, SERVER);
        QueueSettings.use(clients);
        QueueSettings.use(SERVER, servers);
    }

    /** With agents of this process. */
    public static QueueHosts open() {
        return over(UnaryOperator.identity());
    }

    /** With agents of this process, over changed devices. */
    static QueueHosts over(UnaryOperator<Device> change) {
        return new QueueHosts(Optional.empty(), change);
    }

    /** With agents that serve as other processes do. */
    public static QueueHosts served() {
        try {
            return new QueueHosts(Optional.of(Files.createTempDirectory("rackcall-agents")), UnaryOperator.identity());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private Tenant admit(Agent agent, String name) {
        if (folder.isEmpty()) {
            return agent.admit(name + "s");
        }
        try {
            Files.createDirectory(folder(name));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        openDoor(name);
        return AgentFolder.join(folder(name), name + "s");
    }

    /** Where a host's agent is served. */
    public Path folder(String host) {
        return folder.orElseThrow().resolve(host);
    }

    /** Tells tenants of this host's agent that it has ended. */
    public void closeDoor(String host) {
        doors.remove(host).close();
    }

    public void openDoor(String host) {
        doors.put(host, AgentServer.open(host.equals(CLIENT) ? near : far, folder(host)));
    }

    /** Whether its agents serve as other processes do. */
    public boolean areServed() {
        return folder.isPresent();
    }

    private Agent agent(String name) {
        return Agent.open(device(name), AgentOptions.of(HostId.named(name)).withMeta(meta::address));
    }

    private Device device(String name) {
        return change.apply(device(name, SoftOptions.local().withFaults(faults)));
    }

    /** The device of a host. */
    public static Device device(String name, SoftOptions ifSoftware) {
        return REAL.map(Devices::find).orElseGet(() -> SoftDevice.of(name, ifSoftware));
    }

    /** Flags for other processes whose hosts use the same device. */
    public static List<String> flags() {
        return REAL.map(name -> List.of("-D" + DEVICE_PROPERTY + "=" + name)).orElse(List.of());
    }

    /** Where a server listens at any port. */
    public URI anyPort() {
        return URI.create("vq://" + SERVER + ":0");
    }

    public Agent near() {
        return near;
    }

    public Agent far() {
        return far;
    }

    public Tenant clients() {
        return clients;
    }

    public Tenant servers() {
        return servers;
    }

    public FaultPlan faults() {
        return faults;
    }

    public MetaServer meta() {
        return meta;
    }

    /** The open connections of both hosts. */
    public int connections() {
        return QueueHub.carriersOf(clients).size()
                + QueueHub.carriersOf(servers).size();
    }

    /** Ends the connections of one host, as if each peer had been found gone. */
    public void endConnections(boolean ofClients) {
        for (QueueCarrier carrier : QueueHub.carriersOf(ofClients ? clients : servers)) {
            carrier.end("a test ends it");
            carrier.tellEnd();
        }
    }

    /** Hubs that are open in this process. */
    public static int openHubs() {
        return QueueHub.open();
    }

    /** Mappings of connections and regions in this process. */
    public static long mappings() {
        return Usage.mappings("memfd:rackcall");
    }

    /** Deletes a folder and what is in it. */
    public static void delete(Path folder) {
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        QueueSettings.forget(clients);
        QueueSettings.forget(servers);
        clients.close();
        servers.close();
        doors.values().forEach(AgentServer::close);
        folder.ifPresent(QueueHosts::delete);
        near.close();
        far.close();
        meta.close();
    }
}
