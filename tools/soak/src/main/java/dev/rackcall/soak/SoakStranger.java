package dev.rackcall.soak;

import dev.rackcall.shm.os.OsException;
import dev.rackcall.shm.os.socket.UnixSocket;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

/** A process that writes random bytes to every socket of the soak, and keeps some of its connections half open. */
final class SoakStranger extends SoakChild {
    private static final int MOST_OPEN = 16;
    private static final int MOST_BYTES = 4_096;
    private static final Duration PATIENCE = Duration.ofMillis(200);
    private static final long MOST_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private final Path root;
    private final List<Integer> ports;
    private final Random random;
    private final Deque<AutoCloseable> open = new ArrayDeque<>();
    private boolean isCalm;
    private long attempts;

    private SoakStranger(Path root, List<Integer> ports, long seed) {
        this.root = root;
        this.ports = ports;
        random = new Random(seed);
        Thread.ofPlatform().daemon().name("soak-stranger").start(this::annoy);
    }

    /**
     * The program.
     *
     * @param arguments the soak's folder, a seed, and the ports on loopback
     */
    public static void main(String[] arguments) {
        List<Integer> ports =
                Arrays.stream(arguments).skip(2).map(Integer::valueOf).toList();
        new SoakStranger(Path.of(arguments[0]), ports, Long.parseLong(arguments[1])).run();
    }

    private void annoy() {
        while (true) {
            step();
            LockSupport.parkNanos((long) (random.nextDouble() * MOST_PAUSE_NANOS));
        }
    }

    private synchronized void step() {
        if (isCalm) {
            return;
        }
        attempts++;
        try {
            List<Path> sockets = sockets();
            int target = random.nextInt(ports.size() + sockets.size());
            byte[] garbage = new byte[1 + random.nextInt(MOST_BYTES)];
            random.nextBytes(garbage);
            if (target < ports.size()) {
                Socket socket = new Socket(InetAddress.getLoopbackAddress(), ports.get(target));
                open.add(socket);
                socket.getOutputStream().write(garbage);
            } else {
                UnixSocket socket = UnixSocket.connect(sockets.get(target - ports.size()), PATIENCE);
                open.add(socket);
                socket.send(garbage, PATIENCE);
            }
            while (open.size() > random.nextInt(MOST_OPEN)) {
                open.remove().close();
            }
        } catch (IOException | OsException e) {
            // Refused, or cut off: as a stranger should be.
        } catch (Exception e) {
            fail(e);
        }
    }

    private List<Path> sockets() throws IOException {
        try (Stream<Path> files = Files.find(root, Integer.MAX_VALUE, (_, file) -> file.isOther())) {
            return files.toList();
        } catch (UncheckedIOException e) {
            // A peer's folder went away during the walk.
            return List.of();
        }
    }

    @Override
    synchronized Map<String, Long> calm() throws Exception {
        isCalm = true;
        while (!open.isEmpty()) {
            open.remove().close();
        }
        return Map.of("answered", attempts);
    }

    @Override
    synchronized void proceed() {
        isCalm = false;
    }

    @Override
    void end() {
        // The kernel closes what is open.
    }
}
