package dev.rackcall.rdma.queue;

import dev.rackcall.cp.ControlAddress;
import dev.rackcall.cp.HostId;
import dev.rackcall.cp.Tenant;
import dev.rackcall.rpc.Status;
import java.net.URI;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Settings of this process for connections over virtual queues. Thread-safe.
 *
 * {@snippet :
 * Agent agent = Agent.open(Devices.find("soft:a"), AgentOptions.of(HostId.named("a")).withMeta(() -> meta));
 * Tenant tenant = agent.admit("orders");
 * QueueSettings.use(tenant);
 * RpcChannel channel = RpcChannel.builder("/shop/cart").address(URI.create("vq://b:7")).open();
 * }
 */
public final class QueueSettings {
    private static final Map<String, Tenant> HOSTS = new ConcurrentHashMap<>();
    private static final Map<HostId, ControlAddress> ADDRESSES = new ConcurrentHashMap<>();
    private static volatile Optional<Tenant> tenant = Optional.empty();
    private static volatile Duration greetingTimeout = Duration.ofSeconds(5);

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

    /**
     * How long servers wait for what meeting a client takes: 5 s unless this is called.
     *
     * @param atMost positive
     */
    public static void greetingTimeout(Duration atMost) {
        if (!atMost.isPositive()) {
            throw new IllegalArgumentException("servers cannot wait " + atMost + " for a client; set a positive time");
        }
        greetingTimeout = atMost;
    }

    static Duration greetingTimeout() {
        return greetingTimeout;
    }

    static Optional<ControlAddress> address(HostId host) {
        return Optional.ofNullable(ADDRESSES.get(host));
    }

    /** Of a client. */
    static Tenant tenant() {
        return tenant.orElseThrow(() -> Status.Code.FAILED_PRECONDITION
                .with(
                        "this process has no tenant of the control plane, so no virtual queue leads anywhere; open an Agent, and give"
                                + " QueueSettings.use what Agent.admit returns")
                .asException());
    }

    /** Of a server that listens there. */
    static Tenant tenant(URI address) {
        Tenant own = HOSTS.get(address.getHost());
        return own == null ? tenant() : own;
    }
}
