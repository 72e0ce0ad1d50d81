package dev.rackcall.rdma.queue;

import dev.rackcall.cp.ControlPlaneException;
import dev.rackcall.cp.HostId;
import dev.rackcall.cp.Tenant;
import dev.rackcall.cp.client.Patience;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.spi.CarrierProvider;
import dev.rackcall.shm.os.OsException;
import dev.rackcall.verbs.VerbsException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * {@code vq://host:port}: connections over virtual queues of the control plane. The host is a name of the
 * control plane ({@link HostId#named}); the port is bound by the server's tenant. Two ends exchange a hello and its
 * answer, and then write into each other's memory.
 */
public final class QueueCarriers implements CarrierProvider {
    static final String SCHEME = "vq";
    private static final long PAUSE_NANOS = TimeUnit.MICROSECONDS.toNanos(20);

    /** For {@code ServiceLoader}. */
    public QueueCarriers() {}

    @Override
    public String scheme() {
        return SCHEME;
    }

    /** Whether the agent's device is hardware; false without an agent. */
    @Override
    public boolean isHardware(URI address) {
        return QueueSettings.present(address).filter(Tenant::isHardware).isPresent();
    }

    /** Also true for a client that has not joined its agent yet, because it cannot tell. */
    @Override
    public boolean isAlike(URI address, boolean hardware) {
        return QueueSettings.present(address)
                .filter(tenant -> tenant.isHardware() != hardware)
                .isEmpty();
    }

    @Override
    public Optional<String> obstacle(URI address) {
        try {
            return QueueSettings.withoutAgent();
        } catch (OsException e) {
            return Optional.of("cannot tell whether an agent process is running (" + e.getMessage() + ")");
        }
    }

    @Override
    public Listener listen(URI address, Reception reception) {
        requirePlace(address);
        try {
            Tenant tenant = tenantFor(address);
            requireOwnHost(address, tenant);
            return new QueueListener(tenant, address, reception);
        } catch (ControlPlaneException | VerbsException e) {
            throw Status.Code.FAILED_PRECONDITION
                    .with("cannot listen at %s: %s", address, e.getMessage())
                    .asException(e);
        }
    }

    private static Tenant tenantFor(URI address) {
        try {
            return QueueSettings.tenant(address);
        } catch (RpcException e) {
            throw Status.Code.FAILED_PRECONDITION
                    .with("cannot listen at %s: %s", address, e.status().description())
                    .asException(e);
        }
    }

    @Override
    public Greeted connect(URI address, Memory memory, ByteBuffer hello, int publications, Duration timeout) {
        requirePlace(address);
        long end = System.nanoTime() + timeout.toNanos();
        QueueCarrier carrier = null;
        try {
            HostId host = HostId.named(address.getHost());
            int bytes = hello.remaining();
            carrier = Patience.within(
                    timeout, () -> QueueCarrier.open(QueueSettings.tenant(), memory, bytes, host, address.getPort()));
            carrier.sendHello(QueueMessage.HELLO, 0, hello);
            return greeted(carrier, await(carrier, address, timeout, end));
        } catch (ControlPlaneException | VerbsException e) {
            giveUp(carrier);
            throw failure(address, e);
        } catch (RuntimeException | Error e) {
            giveUp(carrier);
            throw e;
        }
    }

    private static Greeted greeted(QueueCarrier carrier, QueueCarrier.Reply reply) {
        QueueHello server = reply.hello();
        if (reply.kind() == QueueMessage.REFUSAL) {
            carrier.close();
            return new Greeted(server.hello().packet(), Optional.empty());
        }
        // Less than the true difference by the travel time of the hello or the first beat, so no deadline expires later
        // at the server.
        carrier.lookAtClock();
        carrier.connect(server, server.hello().clock() - reply.at());
        // Looks up the server's memory for the first call unless the hello has named it to this host's agent. A wrong
        // memory in the hello is only detected later.
        carrier.probe();
        return new Greeted(server.hello().packet(), Optional.of(carrier));
    }

    /** Polls while waiting: the answer is a few messages, and the server takes most of the time. */
    private static QueueCarrier.Reply await(QueueCarrier carrier, URI address, Duration timeout, long end) {
        long begin = System.nanoTime();
        while (!carrier.reply().isDone()) {
            carrier.lookAtClock();
            // Also shows whether the port exists.
            carrier.isHeard();
            // Checked again: a refusal and a goodbye may have arrived since the last check.
            if (carrier.hasEnded() && !carrier.reply().isDone()) {
                throw withoutReply(carrier, address);
            }
            if (System.nanoTime() - end >= 0) {
                throw late(address, timeout, Duration.ofNanos(System.nanoTime() - begin));
            }
            LockSupport.parkNanos(PAUSE_NANOS);
        }
        return carrier.reply().join();
    }

    /** The server may not be to blame: this host's agent may have used up most of the time. */
    private static RpcException late(URI address, Duration timeout, Duration servers) {
        String why = servers.compareTo(timeout.dividedBy(2)) > 0
                ? "it may be stopped or overloaded"
                : "this host's agent took the rest of " + timeout;
        return Status.Code.UNAVAILABLE
                .with("%s did not answer within %d ms; %s", address, servers.toMillis(), why)
                .asException();
    }

    private static RpcException withoutReply(QueueCarrier carrier, URI address) {
        if (!carrier.hasSaidGoodbye() && carrier.isUnheard()) {
            return Status.Code.UNAVAILABLE
                    .with("no connection over virtual queues to %s from here: %s", address, carrier.whyEnded())
                    .asException();
        }
        if (!carrier.hasSaidGoodbye()) {
            return Status.Code.UNAVAILABLE
                    .with(
                            "no server is listening at %s (%s); is the server running, and the port right?",
                            address, carrier.whyEnded())
                    .asException();
        }
        return carrier.farewell()
                .map(kind -> code(kind)
                        .with("the server at %s has rejected this client: %s", address, Farewell.describe(kind)))
                .orElseGet(() -> Status.Code.UNAVAILABLE.with(
                        "the server at %s has rejected this client; its log says why", address))
                .asException();
    }

    private static void giveUp(QueueCarrier carrier) {
        if (carrier != null) {
            carrier.close();
        }
    }

    /** The status of a call that fails for this reason. */
    static Status.Code code(RuntimeException cause) {
        return cause instanceof ControlPlaneException e ? code(e.kind()) : Status.Code.FAILED_PRECONDITION;
    }

    private static Status.Code code(ControlPlaneException.Kind kind) {
        return switch (kind) {
            case UNKNOWN_HOST, UNREACHABLE, QUEUE_FAILED -> Status.Code.UNAVAILABLE;
            case QUOTA_EXCEEDED, TABLE_FULL -> Status.Code.RESOURCE_EXHAUSTED;
            case REFUSED, UNSUPPORTED -> Status.Code.FAILED_PRECONDITION;
        };
    }

    private static RpcException failure(URI address, RuntimeException cause) {
        return code(cause)
                .with("no connection over virtual queues to %s from here: %s", address, cause.getMessage())
                .asException(cause);
    }

    /** Otherwise other hosts would look for the server in the wrong place. */
    private static void requireOwnHost(URI address, Tenant tenant) {
        if (!tenant.host().equals(HostId.named(address.getHost()))) {
            throw Status.Code.FAILED_PRECONDITION
                    .with(
                            "cannot listen at %s: the agent that this process uses is that of another host, %s; listen by the name that the agent"
                                    + " was given: by --host of ./rackcall agent, or by AgentOptions.of",
                            address, tenant.host())
                    .asException();
        }
    }

    private static void requirePlace(URI address) {
        if (address.getHost() == null || address.getPort() < 0) {
            throw Status.Code.INVALID_ARGUMENT
                    .with("'%s' is not an address; write vq://host:port", address)
                    .asException();
        }
    }
}
