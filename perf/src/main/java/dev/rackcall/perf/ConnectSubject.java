package dev.rackcall.perf;

import dev.rackcall.cp.ControlAddress;
import dev.rackcall.cp.HostId;
import dev.rackcall.cp.Tenant;
import dev.rackcall.cp.VirtualQueue;
import dev.rackcall.cp.agent.Agent;
import dev.rackcall.cp.agent.AgentOptions;
import dev.rackcall.cp.client.AgentFolder;
import dev.rackcall.verbs.Access;
import dev.rackcall.verbs.Completions;
import dev.rackcall.verbs.Gid;
import dev.rackcall.verbs.MemoryRegion;
import dev.rackcall.verbs.WorkRequest;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumSet;

/** Connecting and closing over the software RDMA device: a virtual queue, or a reliable queue pair of one's own. */
final class ConnectSubject extends Subject {
    /** What one call does. */
    enum Kind {
        CACHED("connect-cached", "a virtual queue to a host whose metadata is in the cache, opened and closed"),
        UNCACHED(
                "connect-uncached",
                "the same after the host has been forgotten: its metadata is READ from the meta server's table; a device without"
                        + " dynamically connected queue pairs has the one to that host from the connection before"),
        FIRST(
                "connect-first",
                "the same to a host that nothing leads to and nothing is known of, and a READ of 8 bytes there: the way is made,"
                        + " the host and its region are looked up"),
        AGENT("connect-agent", "connect-cached by an agent in another process"),
        HOP("connect-hop", "an entry to an agent in another process and its answer: what that agent adds to a request"),
        FRESH_RC(
                "connect-fresh-rc",
                "an RC queue pair made, told to the server over a TCP connection that is open already, connected at both"
                        + " ends, and closed; devices stay open"),
        READ(
                "connect-read",
                "one READ of 512 bytes, half of what is READ of the meta table, over an RC queue pair that is there");

        private final String word;
        private final String settings;

        Kind(String word, String settings) {
            this.word = word;
            this.settings = settings;
        }
    }

    private final Kind kind;

    ConnectSubject(Kind kind) {
        super(kind.word, 0);
        this.kind = kind;
    }

    @Override
    Target target() {
        return Target.CONNECT;
    }

    @Override
    String group() {
        return "connect";
    }

    @Override
    String floor() {
        return Kind.FRESH_RC.word;
    }

    @Override
    String settings() {
        return kind.settings;
    }

    @Override
    boolean spins() {
        return true;
    }

    @Override
    ServerSide serve(Path directory) throws IOException {
        return new ConnectServer(directory);
    }

    @Override
    ClientSide connect(Path directory) throws IOException, InterruptedException {
        String[] server = ConnectServer.find(directory);
        return switch (kind) {
            case CACHED, UNCACHED -> new Virtual(server, kind == Kind.CACHED);
            case FIRST -> new First(server);
            case AGENT -> new ThroughAgent(directory, Integer.parseInt(server[2]));
            case HOP -> new Hops(directory);
            case FRESH_RC -> new Fresh(Integer.parseInt(server[1]));
            case READ -> new Reads(Integer.parseInt(server[1]));
        };
    }

    private static Agent agent(String[] server) {
        ControlAddress meta = ControlAddress.parse(server[0]);
        return Agent.open(
                BenchDevice.get(),
                AgentOptions.of(HostId.named("connect-client")).withMeta(() -> meta));
    }

    private static final class Virtual implements ClientSide {
        private final Agent agent;
        private final Tenant tenant;
        private final long epoch;
        private final boolean cached;

        Virtual(String[] server, boolean cached) {
            this.cached = cached;
            epoch = Integer.parseInt(server[2]);
            agent = agent(server);
            tenant = agent.admit("bench");
        }

        @Override
        public void call(long sequence) {
            if (!cached) {
                agent.forget(ConnectServer.HOST);
            }
            open(tenant, epoch);
        }

        @Override
        public void close() {
            agent.close();
        }
    }

    /** Up to the first answer, since what a connection needs may be made in the background. */
    private static final class First implements ClientSide {
        private final Agent agent;
        private final Tenant tenant;
        private final MemoryRegion region;
        private final long address;
        private final int key;
        private final WorkRequest request = WorkRequest.create(1, 0);
        private final Completions batch = Completions.create(1);

        First(String[] server) {
            address = Long.parseLong(server[3]);
            key = Integer.parseInt(server[4]);
            agent = agent(server);
            tenant = agent.admit("bench");
            region = tenant.register(Arena.global().allocate(8, 8), EnumSet.of(Access.LOCAL_WRITE));
        }

        @Override
        public void call(long sequence) {
            agent.disconnect(ConnectServer.HOST);
            try (VirtualQueue queue = tenant.connect(ConnectServer.HOST)) {
                request.read(address, key)
                        .from(region, 0, Long.BYTES)
                        .id(sequence)
                        .signaled();
                if (!queue.push(request)) {
                    throw new IllegalStateException("a virtual queue that is new has no room");
                }
                long start = System.nanoTime();
                while (queue.pop(batch) == 0) {
                    if (System.nanoTime() - start > ClientSide.CALL_BOUND_NANOS) {
                        throw new IllegalStateException("the first READ has not ended within 10 s");
                    }
                    // The connecting thread may need this processor.
                    Thread.yield();
                }
                if (!batch.isSuccess(0) || batch.id(0) != sequence) {
                    throw new IllegalStateException("READ " + sequence + " ended with " + batch.status(0));
                }
            }
        }

        @Override
        public void close() {
            agent.close();
        }
    }

    private static final class ThroughAgent implements ClientSide {
        private final Tenant tenant;
        private final long epoch;

        ThroughAgent(Path directory, int epoch) {
            this.epoch = epoch;
            tenant = AgentFolder.join(directory, "bench");
        }

        @Override
        public void call(long sequence) {
            open(tenant, epoch);
        }

        @Override
        public void close() {
            tenant.close();
        }
    }

    private static final class Hops implements ClientSide {
        private static final Duration PATIENCE = Duration.ofSeconds(10);

        private final Tenant tenant;

        Hops(Path directory) {
            tenant = AgentFolder.join(directory, "bench");
        }

        @Override
        public void call(long sequence) {
            if (!tenant.ping(PATIENCE)) {
                throw new IllegalStateException("the agent has not answered within " + PATIENCE);
            }
        }

        @Override
        public void close() {
            tenant.close();
        }
    }

    private static void open(Tenant tenant, long epoch) {
        try (VirtualQueue queue = tenant.connect(ConnectServer.HOST)) {
            if (queue.epoch() != epoch) {
                throw new WrongReplyException("connect", epoch, queue.epoch());
            }
        }
    }

    /** Asks the server for connections. */
    private static class Fresh implements ClientSide {
        final ConnectEnd end = new ConnectEnd();
        private final Socket socket;
        private final DataInputStream in;
        private final OutputStream out;
        long address;
        int key;

        Fresh(int port) throws IOException {
            socket = new Socket(InetAddress.ofLiteral("127.0.0.1"), port);
            socket.setTcpNoDelay(true);
            in = new DataInputStream(socket.getInputStream());
            out = socket.getOutputStream();
        }

        final void open() {
            try {
                end.prepare();
                out.write(end.describe(), 0, Gid.BYTES + Integer.BYTES);
                Gid gid = new Gid(in.readLong(), in.readLong());
                end.connect(gid, in.readInt());
                address = in.readLong();
                key = in.readInt();
            } catch (IOException e) {
                throw new UncheckedIOException("the server side of the connection has gone", e);
            }
        }

        @Override
        public void call(long sequence) {
            open();
            end.closeNewest();
        }

        @Override
        public void close() {
            end.close();
            try {
                socket.close();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    private static final class Reads extends Fresh {
        Reads(int port) throws IOException {
            super(port);
            open();
        }

        @Override
        public void call(long sequence) {
            end.read(address, key, sequence);
        }
    }
}
