package dev.rackcall.grpc.wire;

import dev.rackcall.grpc.wire.PipeLayout.Side;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.spi.Carrier;
import dev.rackcall.rpc.spi.CarrierProvider;
import dev.rackcall.shm.os.OsException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.util.Optional;
import java.util.Set;
import java.util.function.BooleanSupplier;

/** Where clients connect to one channel that share no memory with its server. */
public final class CarrierListener implements AutoCloseable {
    private final CarrierProvider.Listener listener;

    private CarrierListener(CarrierProvider.Listener listener) {
        this.listener = listener;
    }

    /**
     * Begins to listen.
     *
     * @param address such as {@code soft://0.0.0.0:18515}; port 0 for any
     * @param insecure whether the listener may serve every process that reaches it
     * @param loop receives the frames of all clients
     * @param clients called by the listener's threads
     * @param hasRoom whether another client may connect; asked before it costs memory
     * @throws dev.rackcall.rpc.RpcException FAILED_PRECONDITION if it cannot listen there or would be open to all,
     *     INVALID_ARGUMENT if no module knows such addresses
     */
    public static CarrierListener open(
            URI address,
            boolean insecure,
            String channel,
            PipeLoop loop,
            PipeListener.Clients clients,
            BooleanSupplier hasRoom) {
        CarrierProvider provider = CarrierProvider.require(address);
        provider.requireSecure(address, insecure);
        String peerName = "a client over " + address.getScheme();
        return new CarrierListener(provider.listen(address, new Guests(channel, peerName, loop, clients, hasRoom)));
    }

    /** Its address, with the chosen port. */
    public URI address() {
        return listener.address();
    }

    /** Accepts no new clients. Connections live on. */
    @Override
    public void close() {
        listener.close();
    }

    /** Clients that are not connected yet. */
    private record Guests(
            String channel, String peerName, PipeLoop loop, PipeListener.Clients clients, BooleanSupplier hasRoom)
            implements CarrierProvider.Reception {
        @Override
        public CarrierProvider.Inspection inspect(ByteBuffer hello, Set<String> names) {
            if (!PipeHello.isClient(CarrierDial.bytes(hello), channel)) {
                return CarrierProvider.Inspection.refused(refusal(PipeHello.strange()));
            }
            if (!hasRoom.getAsBoolean()) {
                return CarrierProvider.Inspection.refused(refusal(Status.Code.RESOURCE_EXHAUSTED.with(
                        "the server has as many clients as it takes; close idle channels, or start another server")));
            }
            return CarrierProvider.Inspection.passed(CarrierPeer.PUBLICATIONS);
        }

        @Override
        public CarrierProvider.Answer greet(ByteBuffer hello) {
            try {
                return new CarrierProvider.Answer(
                        ByteBuffer.wrap(PipeHello.ofServer()), Optional.of(new Seat(this, PipeMemory.create(channel))));
            } catch (OsException e) {
                return new CarrierProvider.Answer(
                        refusal(Status.Code.RESOURCE_EXHAUSTED.with(
                                "the server has no memory for a connection: %s", e.getMessage())),
                        Optional.empty());
            }
        }

        @Override
        public ByteBuffer refusal(Status why) {
            return ByteBuffer.wrap(PipeHello.refusal(why));
        }
    }

    /** Memory for one client, and then its connection. */
    private record Seat(Guests guests, PipeMemory own) implements CarrierProvider.Seat {
        @Override
        public CarrierProvider.Memory memory() {
            return new CarrierProvider.Memory(own.file(), own.memory());
        }

        @Override
        public void take(Carrier carrier) {
            PipeConnection connection =
                    PipeConnection.ofCarrier(carrier, own, Side.SERVER, guests.peerName, guests.loop);
            // From here on, the connection closes the carrier.
            try {
                guests.clients.accept(connection);
            } catch (RuntimeException | Error e) {
                connection.discard();
                throw e;
            }
            connection.start();
        }

        @Override
        public void leave() {
            own.close();
        }
    }
}
