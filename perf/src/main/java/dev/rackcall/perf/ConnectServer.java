package dev.rackcall.perf;

import dev.rackcall.cp.HostId;
import dev.rackcall.cp.agent.Agent;
import dev.rackcall.cp.agent.AgentOptions;
import dev.rackcall.cp.meta.MetaServer;
import dev.rackcall.cp.server.AgentServer;
import dev.rackcall.verbs.Access;
import dev.rackcall.verbs.Gid;
import dev.rackcall.verbs.MemoryRegion;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.EnumSet;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What one connects to: a meta server, an agent that it knows and that serves other processes, and beside them a device whose reliable queue pairs are made on request over a
 * TCP connection.
 */
final class ConnectServer implements ServerSide {
    static final HostId HOST = HostId.named("connect-server");

    private static final Logger LOG = LoggerFactory.getLogger(ConnectServer.class);
    private static final String FILE = "connect-server";
    private static final long APPEAR_NANOS = 30_000_000_000L;

    private final MetaServer meta;
    private final Agent agent;
    private final AgentServer door;
    private final MemoryRegion region;
    private final ServerSocket socket;

    ConnectServer(Path directory) throws IOException {
        meta = MetaServer.open(BenchDevice.get(), 1024);
        agent = Agent.open(BenchDevice.get(), AgentOptions.of(HOST).withMeta(meta::address));
        door = AgentServer.open(agent, directory);
        region = agent.admit("bench").register(Arena.global().allocate(4096, 4096), EnumSet.of(Access.REMOTE_READ));
        socket = new ServerSocket(0, 16, InetAddress.ofLiteral("127.0.0.1"));
        Thread.ofPlatform().daemon().name("connect-server").start(this::accept);
        Path draft = directory.resolve(FILE + ".draft");
        Files.writeString(
                draft,
                String.join(
                        " ",
                        meta.address().toString(),
                        String.valueOf(socket.getLocalPort()),
                        String.valueOf(agent.epoch()),
                        String.valueOf(region.address()),
                        String.valueOf(region.remoteKey())));
        Files.move(draft, directory.resolve(FILE), StandardCopyOption.ATOMIC_MOVE);
    }

    /** What the server side has said about itself: the meta server's address, the TCP port, its epoch, address and key of memory to read. */
    static String[] find(Path directory) throws IOException, InterruptedException {
        Path file = directory.resolve(FILE);
        for (long start = System.nanoTime(); !Files.exists(file); Thread.sleep(1)) {
            if (System.nanoTime() - start > APPEAR_NANOS) {
                throw new IOException("no server side in " + directory + " within 30 s");
            }
        }
        return Files.readString(file).split(" ");
    }

    private void accept() {
        try {
            while (true) {
                Socket client = socket.accept();
                Thread.ofPlatform().daemon().name("connect-client").start(() -> serve(client));
            }
        } catch (SocketException closed) {
            LOG.debug("the server side ends: {}", closed.getMessage());
        } catch (IOException e) {
            LOG.error("the server side takes no more connections", e);
        }
    }

    private static void serve(Socket client) {
        try (client;
                ConnectEnd end = new ConnectEnd()) {
            client.setTcpNoDelay(true);
            DataInputStream in = new DataInputStream(client.getInputStream());
            DataOutputStream out = new DataOutputStream(client.getOutputStream());
            while (true) {
                Gid gid = new Gid(in.readLong(), in.readLong());
                int number = in.readInt();
                end.prepare();
                end.connect(gid, number);
                out.write(end.describe());
                // The client does not wait for the end of the last one.
                end.closeFormer();
            }
        } catch (EOFException gone) {
            LOG.debug("a client has gone");
        } catch (IOException e) {
            LOG.debug("a client has gone: {}", e.getMessage());
        }
    }

    @Override
    public void close() {
        try (meta;
                agent;
                door;
                socket) {
            LOG.debug("closing");
        } catch (IOException e) {
            LOG.debug("closing the socket: {}", e.getMessage());
        }
    }
}
