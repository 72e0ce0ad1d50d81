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
 * Finds a free port of this host that stays free until a test listens there: the kernel does not assign it by itself,
 * and this process has not found it before.
 */
public final class FreePort {
    private static final int FIRST = 10_000;
    /** The ports that the kernel assigns begin at 32,768. */
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
