package dev.rackcall.rpc.spi;

import dev.rackcall.rpc.Route;
import dev.rackcall.rpc.Status;
import dev.rackcall.shm.os.file.SharedFile;
import java.lang.foreign.MemorySegment;
import java.net.URI;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.Set;

/** Connects processes that share no memory. Found by {@link ServiceLoader}; stateless and thread-safe. */
public interface CarrierProvider {
    /** The scheme of its addresses: {@code rdma}, {@code soft} or {@code vq}. */
    String scheme();

    /**
     * Connects.
     *
     * @param memory of this end; the caller keeps it mapped until the carrier is closed
     * @param hello handed to the peer's {@link Reception}
     * @param publications maximum number of publications in flight to this end
     * @throws dev.rackcall.rpc.RpcException UNAVAILABLE if no server answers there in time or the port of this host's
     *     device is down, FAILED_PRECONDITION if the peer is another program or this host has no device for it
     */
    Greeted connect(URI address, Memory memory, ByteBuffer hello, int publications, Duration timeout);

    /**
     * The memory of one end, all of it reserved.
     *
     * @param file for carriers whose device belongs to another process, which also maps it; owned by the caller, which
     *     may close it once the ends are connected
     * @param mapped all of the file, in this process
     */
    record Memory(SharedFile file, MemorySegment mapped) {}

    /**
     * What the peer has answered.
     *
     * @param welcome its answer
     * @param carrier empty if the peer has refused and provided no memory
     */
    record Greeted(ByteBuffer welcome, Optional<Carrier> carrier) {}

    /**
     * Whether this provider would use a hardware device. Both ends of a connection must agree on this.
     *
     * @param address where it listens or connects
     */
    default boolean isHardware(URI address) {
        return false;
    }

    /** How calls travel that are carried to or from that address. */
    default Route.Kind kind(URI address) {
        boolean queues = scheme().equals("vq");
        return isHardware(address)
                ? (queues ? Route.Kind.RDMA_QUEUES : Route.Kind.RDMA)
                : (queues ? Route.Kind.TCP_QUEUES : Route.Kind.TCP);
    }

    /**
     * Whether its device for that address is of the peer's kind, as far as that is known locally.
     *
     * @param hardware whether the peer's is a hardware device
     */
    default boolean isAlike(URI address, boolean hardware) {
        return isHardware(address) == hardware;
    }

    /**
     * The address that is announced to clients on other hosts. Its scheme names the device that they need.
     *
     * @param listening as given or chosen
     */
    default URI announced(URI listening) {
        return listening;
    }

    /**
     * A clause that says what this process lacks to connect there; empty if it can try. Only local checks, which do not
     * wait; called often.
     *
     * @param address where it would connect
     */
    default Optional<String> obstacle(URI address) {
        return Optional.empty();
    }

    /**
     * Why a listener there would serve processes of other hosts that prove nothing, as a clause; empty if it would not.
     */
    default Optional<String> openness(URI address) {
        return Optional.empty();
    }

    /**
     * Refuses to listen where the listener would serve unauthenticated processes of other hosts, unless the server
     * allows it.
     *
     * @param insecure whether the server allows it
     * @throws dev.rackcall.rpc.RpcException FAILED_PRECONDITION
     */
    default void requireSecure(URI address, boolean insecure) {
        Optional<String> open = openness(address);
        if (open.isPresent() && !insecure) {
            throw Status.Code.FAILED_PRECONDITION
                    .with(
                            "listening at %s would serve every process of any host that reaches it: %s; give it certificates by"
                                    + " RdmaSettings.tls(certificates, key, authority), or write insecure() if only trusted hosts reach it",
                            address, open.get())
                    .asException();
        }
    }

    /**
     * Listens until it is closed.
     *
     * @throws dev.rackcall.rpc.RpcException FAILED_PRECONDITION if it cannot listen there
     */
    Listener listen(URI address, Reception reception);

    /** A place where peers connect. */
    interface Listener extends AutoCloseable {
        /** Its address, with the chosen port if the address asked for any. */
        URI address();

        /** Accepts no new peers. Connections stay. Idempotent. */
        @Override
        void close();
    }

    /** Answers peers. Called by the listener's threads, which may be blocked. */
    interface Reception {
        /**
         * Checks the hello of a peer that has not proven yet that it has a device. Reserves nothing and occupies no
         * place.
         *
         * @param names in the peer's certificate, which the listener has verified; none if it has shown no certificate
         */
        Inspection inspect(ByteBuffer hello, Set<String> names);

        /**
         * Called once a peer whose hello has passed {@link #inspect} has sent something over its device. Reserves the
         * connection's memory.
         */
        Answer greet(ByteBuffer hello);

        /** The answer to a peer that cannot be connected for this reason. */
        ByteBuffer refusal(Status why);
    }

    /**
     * What a listener needs to know of a hello before its sender has proven anything.
     *
     * @param refusal sent to a peer that is refused whatever it proves
     * @param publications as in {@link CarrierProvider#connect}
     */
    record Inspection(Optional<ByteBuffer> refusal, int publications) {
        public static Inspection passed(int publications) {
            return new Inspection(Optional.empty(), publications);
        }

        public static Inspection refused(ByteBuffer refusal) {
            return new Inspection(Optional.of(refusal), 0);
        }
    }

    /**
     * The answer to a peer's hello.
     *
     * @param welcome bytes that are sent to the peer
     * @param seat empty if the peer is refused
     */
    record Answer(ByteBuffer welcome, Optional<Seat> seat) {}

    /** A place for one peer. Exactly one of {@link #take} and {@link #leave} is called. */
    interface Seat {
        /** This end's memory; mapped until the carrier is closed, or until the seat is left. */
        Memory memory();

        /** The peer is connected; the seat owns the carrier now. */
        void take(Carrier carrier);

        /** The peer could not be connected. */
        void leave();
    }

    /**
     * The provider for an address.
     *
     * @throws dev.rackcall.rpc.RpcException INVALID_ARGUMENT if there is none
     */
    static CarrierProvider require(URI address) {
        return of(address)
                .orElseThrow(() -> Status.Code.INVALID_ARGUMENT
                        .with(
                                "no module here understands the address %s; rdma://host:port needs rackcall-rdma on the class"
                                        + " path, vq://host:port also rackcall-control-plane",
                                address)
                        .asException());
    }

    /** The provider for an address; also empty if the provider lacks a module that it needs. */
    static Optional<CarrierProvider> of(URI address) {
        return CarrierSearch.of(address.getScheme());
    }
}
