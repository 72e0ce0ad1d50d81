package dev.rackcall.rdma.queue;

import dev.rackcall.cp.ControlAddress;
import dev.rackcall.cp.HostId;
import dev.rackcall.cp.Tenant;
import dev.rackcall.rpc.runtime.RuntimeDirectory;
import java.net.URI;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Settings of this process for connections over virtual queues. Where an agent process ({@code ./rackcall agent})
 * serves in the runtime folder, none is needed: this process becomes its tenant at the first use. Elsewhere, or for a
 * tenant with another name, set the tenant whose queues are used. Thread-safe.
 *
 * {@snippet :
 * // a tenant of the host's agent, or else of an agent of this process
 * Tenant tenant = AgentFolder.join(folder, "orders", () -> Agent.open(Devices.find("soft:a"), options));
 * QueueSettings.use(tenant);
 * RpcChannel channel = RpcChannel.builder("/shop/cart").address(URI.create("vq://b:7")).open();
 * }
 */
public final class QueueSettings {
    private static final Map<String, Tenant> HOSTS = new ConcurrentHashMap<>();
    private static final Map<HostId, ControlAddress> ADDRESSES = new ConcurrentHashMap<>();
    /** Used if no other tenant is set. */
    private static final HostTenant JOINED = new HostTenant(RuntimeDirectory::defaultPath);

    private static volatile Optional<Tenant> tenant = Optional.empty();

    private QueueSettings() {}

    /**
     * Sets the tenant whose queues and ports are used from now on. The caller keeps it, and closes it after all
     * channels and servers that use it.
     */
    public static void use(Tenant mine) {
        tenant = Optional.of(mine);
    }

    /**
     * Sets the tenant of servers that listen at this host's name. For a process that acts as several hosts, such as a
     * test.
     */
    public static void use(String host, Tenant mine) {
        HOSTS.put(host, Objects.requireNonNull(mine, "mine"));
    }

    /** Stops using this tenant. */
    public static void forget(Tenant mine) {
        HOSTS.values().removeIf(mine::equals);
        if (tenant.equals(Optional.of(mine))) {
            tenant = Optional.empty();
        }
    }

    /** Sets the address of a host's agent, for a host that the meta server does not know. */
    public static void reach(String host, ControlAddress address) {
        ADDRESSES.put(HostId.named(host), Objects.requireNonNull(address, "address"));
    }

    static Optional<ControlAddress> address(HostId host) {
        return Optional.ofNullable(ADDRESSES.get(host));
    }

    /** A client's tenant, if it has one by now. Joins no agent. */
    static Optional<Tenant> present() {
        return tenant.or(JOINED::present);
    }

    /** The tenant of a server at that address, or of a client of that server, if there is one by now. */
    static Optional<Tenant> present(URI address) {
        return Optional.ofNullable(HOSTS.get(address.getHost())).or(QueueSettings::present);
    }

    /** Why this process has no agent, if it has none. Does not block. */
    static Optional<String> withoutAgent() {
        Optional<Tenant> mine = present();
        if (mine.isPresent()) {
            return mine.get().hasAgent()
                    ? Optional.empty()
                    : Optional.of(
                            "the control plane's agent process of this host has ended; start ./rackcall agent again");
        }
        return JOINED.obstacle();
    }

    /**
     * A client's tenant. Waits for an agent process as long as the calling thread's {@link
     * dev.rackcall.cp.client.Patience} lasts.
     *
     * @throws dev.rackcall.rpc.RpcException UNAVAILABLE if there is no agent process, or it does not answer
     * @throws dev.rackcall.cp.ControlPlaneException if the agent process rejects this process
     */
    static Tenant tenant() {
        return tenant.orElseGet(JOINED::get);
    }

    /** The tenant of a server at that address; as {@link #tenant()}. */
    static Tenant tenant(URI address) {
        Tenant own = HOSTS.get(address.getHost());
        return own == null ? tenant() : own;
    }
}
