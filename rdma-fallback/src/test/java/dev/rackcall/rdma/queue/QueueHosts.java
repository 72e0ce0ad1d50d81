package dev.rackcall.rdma.queue;

import dev.rackcall.cp.Agent;
import dev.rackcall.cp.AgentOptions;
import dev.rackcall.cp.HostId;
import dev.rackcall.cp.MetaServer;
import dev.rackcall.cp.Tenant;
import dev.rackcall.verbs.soft.FaultPlan;
import dev.rackcall.verbs.soft.SoftDevice;
import dev.rackcall.verbs.soft.SoftOptions;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.stream.Stream;

/** Two hosts of this process over software devices, a meta server, and a tenant of each: clients are on one, servers on the other. */
public final class QueueHosts implements AutoCloseable {
    public static final String CLIENT = "client";
    public static final String SERVER = "server";

    private final FaultPlan faults = FaultPlan.withSeed(1);
    private final MetaServer meta;
    private final Agent near;
    private final Agent far;
    private final Tenant clients;
    private final Tenant servers;

    private QueueHosts() {
        meta = MetaServer.open(SoftDevice.of("meta", SoftOptions.local()), 16, Duration.ofMinutes(1));
        near = agent(CLIENT);
        far = agent(SERVER);
        clients = near.admit("clients");
        servers = far.admit("servers");
        QueueSettings.use(clients);
        QueueSettings.use(SERVER, servers);
    }

    public static QueueHosts open() {
        return new QueueHosts();
    }

    private Agent agent(String name) {
        return Agent.open(
                SoftDevice.of(name, SoftOptions.local().withFaults(faults)),
                AgentOptions.of(HostId.named(name)).withMeta(meta::address));
    }

    /** Where a server listens that chooses a port. */
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

    /** Connections of both hosts that are open. */
    public int connections() {
        return Exchange.carriersOf(clients).size()
                + Exchange.carriersOf(servers).size();
    }

    /** Ends the connections of one host, as if a peer of each had been found gone. */
    public void endConnections(boolean ofClients) {
        for (QueueCarrier carrier : Exchange.carriersOf(ofClients ? clients : servers)) {
            carrier.end("a test ends it");
            carrier.tellEnd();
        }
    }

    /** Exchanges that are open in this process. */
    public static int openExchanges() {
        return Exchange.open();
    }

    /** Pieces of memory of connections and regions that this process still maps. */
    public static long mappings() {
        try (Stream<String> lines = Files.lines(Path.of("/proc/self/maps"))) {
            return lines.filter(line -> line.contains("memfd:rackcall")).count();
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
        near.close();
        far.close();
        meta.close();
    }
}
