package dev.rackcall.rdma;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.util.concurrent.atomic.AtomicInteger;

/** A TCP port in front of a server's, which hangs up on the first clients and relays the others. */
final class Turnstile implements AutoCloseable {
    private final ServerSocket port;
    private final URI server;
    private final int most;
    private final AtomicInteger turnedAway = new AtomicInteger();

    private Turnstile(ServerSocket port, URI server, int most) {
        this.port = port;
        this.server = server;
        this.most = most;
    }

    static Turnstile before(URI server, int most) throws IOException {
        Turnstile turnstile = new Turnstile(new ServerSocket(0, 10, InetAddress.getLoopbackAddress()), server, most);
        Thread.ofVirtual().start(turnstile::serve);
        return turnstile;
    }

    private void serve() {
        while (!port.isClosed()) {
            try {
                pass(port.accept());
            } catch (IOException e) {
                // The test has ended, or the client has gone.
                Thread.yield();
            }
        }
    }

    private void pass(Socket client) throws IOException {
        if (turnedAway.get() < most) {
            turnedAway.incrementAndGet();
            client.close();
            return;
        }
        Socket through = new Socket(server.getHost(), server.getPort());
        Thread.ofVirtual().start(() -> relay(client, through));
        Thread.ofVirtual().start(() -> relay(through, client));
    }

    private static void relay(Socket from, Socket to) {
        try (from;
                to) {
            from.getInputStream().transferTo(to.getOutputStream());
        } catch (IOException e) {
            // One side has hung up, so both are closed.
            Thread.yield();
        }
    }

    /** How many clients were not let through. */
    int turnedAway() {
        return turnedAway.get();
    }

    URI address() {
        return URI.create("rdma://127.0.0.1:" + port.getLocalPort());
    }

    @Override
    public void close() throws IOException {
        port.close();
    }
}
