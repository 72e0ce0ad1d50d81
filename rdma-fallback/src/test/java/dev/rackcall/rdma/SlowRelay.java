package dev.rackcall.rdma;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** Relays one TCP connection; once it is slow, the client's bytes pass one at a time. */
final class SlowRelay implements AutoCloseable {
    private static final long PACE_MILLIS = 20;

    private final ServerSocket port = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
    private final Socket server;
    private final CountDownLatch closed = new CountDownLatch(1);
    private volatile boolean slow;

    SlowRelay(InetAddress host, int serverPort) throws IOException {
        server = new Socket(host, serverPort);
        Thread.ofVirtual().start(this::relay);
    }

    /** A client's end. */
    Socket dial() throws IOException {
        return new Socket(port.getInetAddress(), port.getLocalPort());
    }

    void slowDown() {
        slow = true;
    }

    private void relay() {
        try (Socket client = port.accept()) {
            Thread.ofVirtual().start(() -> pass(server, client, false));
            pass(client, server, true);
        } catch (IOException e) {
            // The test is over.
            closed.countDown();
        }
    }

    private void pass(Socket from, Socket to, boolean isFromClient) {
        byte[] bytes = new byte[1 << 14];
        try {
            InputStream in = from.getInputStream();
            OutputStream out = to.getOutputStream();
            int count = 0;
            while (count >= 0) {
                count = in.read(bytes);
                for (int i = 0;
                        i < count && slow && isFromClient && !closed.await(PACE_MILLIS, TimeUnit.MILLISECONDS);
                        i++) {
                    out.write(bytes[i]);
                }
                if (count > 0 && !(slow && isFromClient)) {
                    out.write(bytes, 0, count);
                }
            }
            to.shutdownOutput();
        } catch (IOException | InterruptedException e) {
            // One of the ends has closed.
            closed.countDown();
        }
    }

    @Override
    public void close() throws IOException {
        closed.countDown();
        server.close();
        port.close();
    }
}
