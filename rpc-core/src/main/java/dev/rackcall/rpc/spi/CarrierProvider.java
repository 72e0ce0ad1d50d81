package dev.rackcall.rpc.spi;

import dev.rackcall.rpc.Status;
import dev.rackcall.shm.os.file.SharedFile;
import java.lang.foreign.MemorySegment;
import java.net.URI;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Optional;
import java.util.ServiceLoader;

/** Connects processes that share no memory. Found by {@link ServiceLoader}; stateless and thread-safe. */
public interface CarrierProvider {
    /** Of the addresses that it understands: {@code rdma}, {@code soft}, {@code vq}. */
    String scheme();

    /**
     * Connects.
     *
     * @param memory of this end; the caller keeps it mapped until the carrier is closed
     * @param hello handed to the peer's {@link Reception}
     * @param publications that may be on their way to this end at a time
     * @throws dev.rackcall.rpc.RpcException UNAVAILABLE if nobody answers there in time or the port of this host's device is down, FAILED_PRECONDITION if it is somebody else or this host has no device for it
     */
    Greeted connect(URI address, Memory memory, ByteBuffer hello, int publications, Duration timeout);

    /**
     * What one end of a connection is mirrored in, all of it reserved.
     *
     * @param file for carriers whose device is another process's, which maps it, too; it stays the caller's, who may close it once the ends are connected
     * @param mapped all of the file, in this process
     */
    record Memory(SharedFile file, MemorySegment mapped) {}

    /**
     * What the peer has answered.
     *
     * @param welcome its answer
     * @param carrier empty if it gave no memory, having refused
     */
    record Greeted(ByteBuffer welcome, Optional<Carrier> carrier) {}

    /**
     * Whether it would carry by a device in hardware: the two ends of a connection must be alike in that.
     *
     * @param address where it listens or connects
     */
    default boolean isHardware(URI address) {
        return false;
    }

    /**
     * Whether it would carry there by a device that is like the peer's in that, as far as that is known without asking anybody.
     *
     * @param hardware whether the peer's is one in hardware
     */
    default boolean isAlike(URI address, boolean hardware) {
        return isHardware(address) == hardware;
    }

    /**
     * What clients on other hosts are told of a place where it listens: an address whose scheme says which of their devices they need.
     *
     * @param listening as it was given or chosen
     */
    default URI announced(URI listening) {
        return listening;
    }

    /**
     * What this process lacks to connect there, as a clause that says why it does not; empty if it can try. Nobody is asked, and whoever asks does not wait; to be asked often.
     *
     * @param address where it would connect
     */
    default Optional<String> obstacle(URI address) {
        return Optional.empty();
    }

    /**
     * Listens until it is closed.
     *
     * @throws dev.rackcall.rpc.RpcException FAILED_PRECONDITION if it cannot listen there
     */
    Listener listen(URI address, Reception reception);

    /** A place where peers connect. */
    interface Listener extends AutoCloseable {
        /** Where, with the port that was chosen if the address asked for any. */
        URI address();

        /** Takes no new peers. Connections stay. Idempotent. */
        @Override
        void close();
    }

    /** Answers peers. Called by threads of the listener, which may be held up. */
    @FunctionalInterface
    interface Reception {
        /** @param hello of a peer that may be anybody */
        Answer greet(ByteBuffer hello);
    }

    /**
     * What a peer gets.
     *
     * @param welcome what it is told
     * @param seat empty if it is refused
     */
    record Answer(ByteBuffer welcome, Optional<Seat> seat) {}

    /** A place for one peer. Exactly one of {@link #take} and {@link #leave} is called. */
    interface Seat {
        /** This end's memory; mapped until the carrier is closed, or until the seat is left. */
        Memory memory();

        /** As in {@link CarrierProvider#connect}. */
        int publications();

        /** The peer is connected; the carrier is the seat's now. */
        void take(Carrier carrier);

        /** What a peer is told that cannot be connected for this reason; {@link #leave} follows. */
        ByteBuffer refusal(Status why);

        /** The peer could not be connected. */
        void leave();
    }

    /** The one for an address; empty also if it lacks a module that it needs. */
    static Optional<CarrierProvider> of(URI address) {
        return CarrierSearch.first(
                ServiceLoader.load(CarrierProvider.class, CarrierProvider.class.getClassLoader())
                        .iterator(),
                address.getScheme());
    }
}
