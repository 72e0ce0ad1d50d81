package dev.rackcall.rdma;

import dev.rackcall.rdma.end.ForeignPeerException;
import dev.rackcall.rdma.end.Hello;
import dev.rackcall.rdma.end.PeerMemory;
import dev.rackcall.rpc.shm.protocol.ControlLayout;
import dev.rackcall.shm.os.file.Mapping;
import dev.rackcall.shm.os.file.SharedFile;
import dev.rackcall.testkit.Await;
import dev.rackcall.verbs.WorkRequest;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.net.URI;
import java.nio.ByteBuffer;

/** A client that speaks the protocol by hand, and then writes to arbitrary addresses. */
final class RawClient implements AutoCloseable {
    static final int PROTOCOL = 1;
    static final int LAYOUT = ControlLayout.VERSION;
    private static final long MAGIC = 0x5241434b43414c4cL;
    private static final int SLOTS = 64;
    private static final long BYTES = 8 << 20;

    private final Socket socket;
    private final SharedFile file;
    private final Mapping mapping;
    private final PairCarrier carrier;
    private PairHello server;

    private RawClient(Socket socket, SharedFile file, Mapping mapping, PairCarrier carrier) {
        this.socket = socket;
        this.file = file;
        this.mapping = mapping;
        this.carrier = carrier;
    }

    static RawClient dial(URI address) throws IOException {
        Socket socket = new Socket(address.getHost(), address.getPort());
        socket.setSoTimeout((int) Await.BOUND.toMillis());
        SharedFile file = SharedFile.memfd("raw-client", BYTES);
        Mapping mapping = file.map();
        PairCarrier carrier =
                PairHandshake.over(socket, DeviceKind.BEST, Await.BOUND).carrier(mapping.memory(), 2 * SLOTS);
        return new RawClient(socket, file, mapping, carrier);
    }

    static byte[] hello(int protocol, int layout, String channel, long quota) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (DataOutputStream out = new DataOutputStream(bytes)) {
            out.writeLong(MAGIC);
            out.writeInt(protocol);
            out.writeInt(layout);
            out.writeUTF(channel);
            out.writeInt(SLOTS);
            out.writeLong(quota);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return bytes.toByteArray();
    }

    /** Sends the hello; returns the invitation or a refusal. */
    PairHello knock(byte[] hello) throws IOException, ForeignPeerException {
        carrier.hello(ByteBuffer.wrap(hello)).write(socket.getOutputStream());
        return PairHello.read(socket.getInputStream());
    }

    /** As {@link #greet(byte[])}, with a claim to have that much memory. */
    byte[] greet(byte[] hello, long claimedBytes) throws IOException, ForeignPeerException {
        PairHello mine = carrier.hello(ByteBuffer.wrap(hello));
        PeerMemory claimed = new PeerMemory(
                mine.hello().memory().address(), mine.hello().memory().key(), claimedBytes);
        new PairHello(
                        mine.gid(),
                        mine.queuePair(),
                        mine.firstPacket(),
                        Hello.now(claimed, mine.hello().packet()))
                .write(socket.getOutputStream());
        return prove(PairHello.read(socket.getInputStream()));
    }

    /** The server's next hello. */
    PairHello next() throws IOException, ForeignPeerException {
        return PairHello.read(socket.getInputStream());
    }

    /** Says that it is ready. */
    void say() throws IOException {
        socket.getOutputStream().write(1);
    }

    /** Sends the hello and proves itself; returns the answer's packet. */
    byte[] greet(byte[] hello) throws IOException, ForeignPeerException {
        return prove(knock(hello));
    }

    private byte[] prove(PairHello answer) throws IOException, ForeignPeerException {
        server = answer;
        if (!server.isRefusal()) {
            carrier.prove(server, Await.BOUND.toNanos());
            say();
            server = PairHello.read(socket.getInputStream());
        }
        byte[] packet = new byte[server.hello().packet().remaining()];
        server.hello().packet().get(packet);
        return packet;
    }

    /** Continues until both ends are ready. */
    void connect() throws IOException, ForeignPeerException {
        carrier.meet(server, 0);
        if (socket.getInputStream().read() != 1) {
            throw new IOException("the server is not ready");
        }
    }

    PairHello server() {
        return server;
    }

    /** Writes 8 bytes there. */
    void write(long address, int key) {
        carrier.queuePair()
                .postSend(WorkRequest.create(1, Long.BYTES)
                        .write(address, key)
                        .inline(-1L)
                        .signaled());
    }

    @Override
    public void close() {
        // Ended first: otherwise it waits for a queue pair that a server which has refused it does not have.
        carrier.end("the test is over");
        carrier.close();
        mapping.close();
        file.close();
    }
}
