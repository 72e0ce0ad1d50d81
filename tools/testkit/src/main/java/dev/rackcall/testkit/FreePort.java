package dev.rackcall.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A port of this host that is free, and stays so until a test listens there: it is none of those that the kernel gives to whoever asks for any, and none
 * that this process has found before.
 */
public final class FreePort {
    private static final int FIRST = 10_000;
    /** The kernel's own begin at 32,768. */
    private static final int END = 32_000;

    private static final AtomicInteger NEXT =
            new AtomicInteger(ThreadLocalRandom.current().nextInt(END - FIRST));

    private FreePort() {}

    public static int find() {
        for (int tries = 0; tries < END - FIRST; tries++) {
            int port = FIRST + Math.floorMod(NEXT.getAndIncrement(), END - FIRST);
            if (isFree(port)) {
                return port;
            }
        }
        throw new AssertionError("no port from " + FIRST + " to " + END + " is free");
    }

    private static boolean isFree(int port) {
        try (ServerSocket socket = new ServerSocket()) {
            socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 1);
            return true;
        } catch (BindException e) {
            return false;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
