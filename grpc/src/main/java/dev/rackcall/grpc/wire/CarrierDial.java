package dev.rackcall.grpc.wire;

import dev.rackcall.grpc.wire.PipeLayout.Side;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.spi.Carrier;
import dev.rackcall.rpc.spi.CarrierProvider;
import dev.rackcall.shm.os.OsException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Optional;

/** Connects a client to a server that shares no memory with it. */
public final class CarrierDial {
    private static final Duration PATIENCE = Duration.ofSeconds(5);

    private CarrierDial() {}

    /**
     * Connects; blocks for some seconds at most.
     *
     * @param address such as {@code soft://host:port}
     * @param loop receives the connection's frames, once it is {@linkplain PipeConnection#start started}
     * @throws RpcException UNAVAILABLE if no server answers there, INVALID_ARGUMENT if no module knows such addresses,
     *     FAILED_PRECONDITION if it speaks another protocol, RESOURCE_EXHAUSTED if there is no memory, or what the
     *     server says
     */
    public static PipeConnection connect(URI address, String channel, PipeLoop loop) {
        CarrierProvider provider = CarrierProvider.require(address);
        PipeMemory memory = null;
        Optional<Carrier> carrier = Optional.empty();
        try {
            memory = PipeMemory.create(channel);
            CarrierProvider.Greeted greeted = provider.connect(
                    address,
                    new CarrierProvider.Memory(memory.file(), memory.memory()),
                    ByteBuffer.wrap(PipeHello.ofClient(channel)),
                    CarrierPeer.PUBLICATIONS,
                    PATIENCE);
            carrier = greeted.carrier();
            Optional<Status> refusal = PipeHello.refusalIn(bytes(greeted.welcome()), channel);
            if (refusal.isPresent()) {
                throw refusal.get().asException();
            }
            if (carrier.isEmpty()) {
                throw Status.Code.FAILED_PRECONDITION
                        .with("channel %s at %s: the server accepts, but provides no memory", channel, address)
                        .asException();
            }
            return PipeConnection.ofCarrier(carrier.get(), memory, Side.CLIENT, "the server at " + address, loop);
        } catch (OsException e) {
            discard(carrier, memory);
            throw Status.Code.RESOURCE_EXHAUSTED
                    .with("channel %s at %s: no memory for a connection: %s", channel, address, e.getMessage())
                    .asException(e);
        } catch (RuntimeException | Error e) {
            discard(carrier, memory);
            throw e;
        }
    }

    private static void discard(Optional<Carrier> carrier, PipeMemory memory) {
        carrier.ifPresent(Carrier::close);
        if (memory != null) {
            memory.close();
        }
    }

    static byte[] bytes(ByteBuffer packet) {
        byte[] bytes = new byte[packet.remaining()];
        packet.get(bytes);
        return bytes;
    }
}
