package dev.rackcall.rpc.shm.mirror;

import dev.rackcall.rpc.Route;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.shm.client.ClientEnd;
import dev.rackcall.rpc.shm.client.ClientMemory;
import dev.rackcall.rpc.shm.client.ServerHelloCheck;
import dev.rackcall.rpc.shm.client.ShmClientConnection;
import dev.rackcall.rpc.shm.protocol.ControlLayout;
import dev.rackcall.rpc.shm.protocol.Handshake;
import dev.rackcall.rpc.spi.Carrier;
import dev.rackcall.rpc.spi.CarrierProvider;
import dev.rackcall.rpc.spi.ClientConnection;
import dev.rackcall.rpc.spi.ClientSpec;
import dev.rackcall.shm.OutOfArenaException;
import dev.rackcall.shm.os.OsException;
import dev.rackcall.shm.os.file.Mapping;
import dev.rackcall.shm.os.file.SharedFile;
import java.net.URI;
import java.nio.ByteBuffer;

/**
 * Connects to a server that shares no memory with this process. This end allocates memory of the size that it requests,
 * and divides it as the server's answer specifies.
 */
public final class RemoteClient {
    /** More than any arena may have. */
    private static final long MAX_BYTES = 1L << 40;

    private final ClientSpec spec;
    private final URI address;
    private final int slots;

    private RemoteClient(ClientSpec spec, URI address) {
        this.spec = spec;
        this.address = address;
        this.slots = slotsFor(spec.slots());
    }

    /**
     * Slots to request so that this many calls can be in flight: twice as many, because reading an answer may need a
     * request of its own. Invalid counts pass unchanged so that the error shows the caller's value.
     */
    private static int slotsFor(int calls) {
        boolean mayBeDoubled =
                Integer.bitCount(calls) == 1 && calls >= Handshake.MIN_SLOTS && calls <= Handshake.MAX_SLOTS / 2;
        return mayBeDoubled ? 2 * calls : calls;
    }

    public static ClientConnection connect(ClientSpec spec, URI address) {
        return new RemoteClient(spec, address).connect();
    }

    private ClientConnection connect() {
        CarrierProvider provider = CarrierProvider.require(address);
        SharedFile file = null;
        Mapping mapping = null;
        CarrierProvider.Greeted greeted = null;
        try {
            file = SharedFile.memfd("rackcall" + spec.channel(), bytes());
            // The server's device writes there, and could not report a lack of memory.
            file.reserve(0, file.bytes());
            mapping = file.map();
            ByteBuffer hello = ByteBuffer.wrap(
                    new Handshake.ClientHello(ControlLayout.VERSION, spec.channel(), slots, spec.arenaQuota())
                            .encode());
            CarrierProvider.Memory memory = new CarrierProvider.Memory(file, mapping.memory());
            greeted = provider.connect(address, memory, hello, 2 * slots, spec.connectTimeout());
            return open(file, mapping, greeted);
        } catch (OsException | OutOfArenaException e) {
            discard(file, mapping, greeted);
            throw Status.Code.RESOURCE_EXHAUSTED
                    .with(
                            "channel %s at %s: no memory for a connection of %d bytes: %s; ask for a smaller arenaQuota",
                            spec.channel(), address, bytes(), e.getMessage())
                    .asException(e);
        } catch (Handshake.MalformedException e) {
            discard(file, mapping, greeted);
            throw Status.Code.FAILED_PRECONDITION
                    .with("channel %s at %s: the handshake failed: %s", spec.channel(), address, e.getMessage())
                    .asException(e);
        } catch (RuntimeException | Error e) {
            discard(file, mapping, greeted);
            throw e;
        }
    }

    private long bytes() {
        long quota = Math.max(Handshake.MIN_QUOTA, spec.arenaQuota()) & -ControlLayout.PAGE;
        return ControlLayout.controlBytes(slots) + 2 * quota;
    }

    static byte[] bytes(ByteBuffer packet) {
        byte[] bytes = new byte[packet.remaining()];
        packet.get(bytes);
        return bytes;
    }

    private static void discard(SharedFile file, Mapping mapping, CarrierProvider.Greeted greeted) {
        if (greeted != null) {
            greeted.carrier().ifPresent(Carrier::close);
        }
        if (mapping != null) {
            mapping.close();
        }
        if (file != null) {
            file.close();
        }
    }

    private ClientConnection open(SharedFile file, Mapping mapping, CarrierProvider.Greeted greeted)
            throws Handshake.MalformedException {
        Handshake.ServerHello serverHello = Handshake.ServerHello.decode(bytes(greeted.welcome()));
        if (!serverHello.status().isOk()) {
            throw serverHello.status().asException();
        }
        long sharedBytes = serverHello.shared().bytes();
        if (greeted.carrier().isEmpty() || sharedBytes <= 0 || sharedBytes > MAX_BYTES) {
            throw new Handshake.MalformedException("its answer names no memory, or another kind than is spoken here");
        }
        SharedFile shared = SharedFile.memfd("rackcall" + spec.channel() + "-none", sharedBytes);
        try {
            ServerHelloCheck.of(serverHello, spec, slots).requirePlaces(file, shared);
            ControlLayout.route(
                    mapping.memory(), CarrierProvider.require(address).kind(address));
            ControlLayout.initialise(mapping.memory(), serverHello.slots(), serverHello.instance());
            return open(file, shared, new ClientMirror(greeted.carrier().get(), mapping, serverHello), serverHello);
        } catch (Handshake.MalformedException | RuntimeException | Error e) {
            shared.close();
            throw e;
        }
    }

    private ClientConnection open(
            SharedFile file, SharedFile shared, ClientMirror bell, Handshake.ServerHello serverHello)
            throws Handshake.MalformedException {
        try {
            ClientMemory memory = ClientMemory.open(file, shared, serverHello, spec);
            Route.Kind transport = CarrierProvider.require(address).kind(address);
            return start(new ClientEnd(bell, memory, serverHello, spec.channel(), transport, true, () -> {}), bell);
        } catch (Handshake.MalformedException | RuntimeException | Error e) {
            // Also closes the bell's sockets.
            bell.close();
            throw e;
        }
    }

    private ClientConnection start(ClientEnd end, ClientMirror bell) {
        try {
            ShmClientConnection connection = new ShmClientConnection(end, spec);
            HeldScopes scopes = new HeldScopes(connection, bell);
            bell.tells(scopes::stale);
            end.arenas().mirroredBy(scopes);
            end.start(connection);
            bell.carrier.start(bell);
            return connection;
        } catch (RuntimeException | Error e) {
            end.discard();
            throw e;
        }
    }
}
