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
 * Settings of this process for connections over virtual queues. None is needed where an agent process ({@code ./rackcall agent}) serves in the runtime folder: this process becomes a tenant of it
 * when it first needs virtual queues. Elsewhere, or to have another name there, say whose queues are used. Thread-safe.
 *
 * {@snippet :
 * Tenant tenant = AgentFolder.join(folder, "orders", () -> Agent.open(Devices.find("soft:a"), options)); // of the host's agent, or else of one's own
 * QueueSettings.use(tenant);
 * RpcChannel channel = RpcChannel.builder("/shop/cart").address(URI.create("vq://b:7")).open();
 * }
 */
public final class QueueSettings {
    private static final Map<String, Tenant> HOSTS = new ConcurrentHashMap<>();
    private static final Map<HostId, ControlAddress> ADDRESSES = new ConcurrentHashMap<>();
    /** Where no other is named. */
    private static final HostTenant JOINED = new HostTenant(RuntimeDirectory::defaultPath);

    private static volatile Optional<Tenant> tenant = Optional.empty();

    private QueueSettings() {}

    /** Whose virtual queues and ports are used from now on. It stays the caller's, who closes it after all channels and servers that use it. */
    public static void use(Tenant mine) {
        tenant = Optional.of(mine);
    }

    /** Whose ports servers use that listen at this host's name; for a process that is several hosts, as tests are. */
    public static void use(String host, Tenant mine) {
        HOSTS.put(host, Objects.requireNonNull(mine, "mine"));
    }

    /** Nothing uses this tenant from now on. */
    public static void forget(Tenant mine) {
        HOSTS.values().removeIf(mine::equals);
        if (tenant.equals(Optional.of(mine))) {
            tenant = Optional.empty();
        }
    }

    /** Where a host's agent is asked if the meta server does not know the host, or there is none. */
    public static void reach(String host, ControlAddress address) {
        ADDRESSES.put(HostId.named(host), Objects.requireNonNull(address, "address"));
    }

    static Optional<ControlAddress> address(HostId host) {
        return Optional.ofNullable(ADDRESSES.get(host));
    }

    /** Of a client, if it has one by now; nobody is joined. */
    static Optional<Tenant> present() {
        return tenant.or(JOINED::present);
    }

    /** Of a server that listens there, or a client of one, if it has one by now. */
    static Optional<Tenant> present(URI address) {
        return Optional.ofNullable(HOSTS.get(address.getHost())).or(QueueSettings::present);
    }

    /** Why there is no agent for this process, if so. Waits for nobody. */
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
     * Of a client. For an agent process that does not answer it waits as long as the calling thread's {@link dev.rackcall.cp.client.Patience} lasts.
     *
     * @throws dev.rackcall.rpc.RpcException UNAVAILABLE if there is none, or it does not answer
     * @throws dev.rackcall.cp.ControlPlaneException if there is an agent process that does not take this one
     */
    static Tenant tenant() {
        return tenant.orElseGet(JOINED::get);
    }

    /** Of a server that listens there; as {@link #tenant()}. */
    static Tenant tenant(URI address) {
        Tenant own = HOSTS.get(address.getHost());
        return own == null ? tenant() : own;
    }
}
