package dev.rackcall.rpc.shm.client;

import dev.rackcall.rpc.MethodDescriptor;
import dev.rackcall.rpc.contract.Echo;
import dev.rackcall.rpc.generated.EverythingProbe;
import dev.rackcall.rpc.hostile.Catalogue;
import dev.rackcall.rpc.hostile.HostileTarget;
import dev.rackcall.rpc.shm.client.HostileConnection.End;
import dev.rackcall.rpc.shm.protocol.ControlLayout;
import dev.rackcall.rpc.shm.protocol.Handshake;
import dev.rackcall.rpc.shm.protocol.SlotLayout;
import dev.rackcall.rpc.spi.ServiceDefinition;
import dev.rackcall.shm.Arena;
import dev.rackcall.shm.OutOfArenaException;
import dev.rackcall.shm.Ref;
import dev.rackcall.shm.RefException;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.ScopeException;
import dev.rackcall.shm.os.socket.Message;
import dev.rackcall.shm.os.socket.UnixSocket;
import dev.rackcall.shm.types.SharedObject;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;
import java.util.Random;

/**
 * Does what one line says to a server: {@code channel: step; step; ...}. The same form is used for hand-written cases
 * in {@code hostile/client-cases.txt} and for cases that are generated from a seed, so that a generated case that finds
 * a bug can be kept.
 *
 * <pre>
 * send METHOD FLAGS inline|outside HEX   a request with these bytes as its payload
 * repeat METHOD FLAGS HEX HEX COUNT      the same; the payload is the first bytes and then so many times the second
 * word BITS                              a request whose word has these upper bits
 * raw BITS                               exactly these bits where the next request's word belongs
 * place LENGTH REF                       before word: where the payload is said to be
 * deadline NANOS                         before send or word
 * isolation BITS                         before send or word: which scope or seal an isolated call's arguments are said to have
 * poke AREA OFFSET BITS                  8 bytes; areas: control slots slot request reply shared
 * noise AREA SEED COUNT                  so many random stores
 * graph ARENA SEED SPOILT METHOD FLAGS   a graph in the request or shared arena with so many words spoilt, passed to a method
 * race ARENA SEED METHOD FLAGS           the same, spoilt by another thread as long as the calls last
 * ring COUNT | packet BYTES FDS          over the socket
 * hello HEX | silence                    on a socket of its own
 * greet LAYOUT SLOTS QUOTA               a hello that is right but for these; the layout version is given relative to the right one
 * truncate | leave | await
 * </pre>
 */
final class HostileScript {
    private static final Map<String, ServiceDefinition<?>> SERVICES = Map.of(
            "/test/echo",
            ServiceDefinition.of(Echo.class),
            "/test/catalogue",
            ServiceDefinition.of(Catalogue.class),
            EverythingProbe.CHANNEL,
            EverythingProbe.definition());

    private static final int RACING_CALLS = 8;

    /** What a graph is passed to, with which flags. */
    private record Target(int method, int flags) {}

    private final Path directory;
    private final Map<String, HostileConnection> open = new HashMap<>();
    private final Map<Integer, byte[]> sharedIdentities = new HashMap<>();
    private long steps;

    HostileScript(Path directory) {
        this.directory = directory;
    }

    static ServiceDefinition<?> service(String channel) {
        return SERVICES.get(channel);
    }

    /**
     * Runs one line.
     *
     * @throws AssertionError if the server does not answer, or answers what it must not
     */
    void run(String line) throws IOException {
        int colon = line.indexOf(':');
        String channel = line.substring(0, colon).trim();
        try {
            for (String step : line.substring(colon + 1).split(";")) {
                steps++;
                run(channel, step.trim().split("\\s+"));
            }
        } finally {
            finish(channel);
        }
    }

    private void finish(String channel) {
        HostileConnection connection = open.get(channel);
        if (connection == null) {
            return;
        }
        End end = connection.await();
        if (end != End.ANSWERED || connection.isSpoilt()) {
            leave(channel);
        }
        if (end == End.HUNG) {
            throw new AssertionError("the server neither answers nor hangs up");
        }
    }

    private HostileConnection connection(String channel) throws IOException {
        HostileConnection connection = open.get(channel);
        if (connection == null) {
            connection = HostileConnection.open(directory, channel, sharedIdentities);
            open.put(channel, connection);
        }
        return connection;
    }

    private void leave(String channel) {
        HostileConnection connection = open.remove(channel);
        if (connection != null) {
            connection.close();
        }
    }

    void leaveAll() {
        open.values().forEach(HostileConnection::close);
        open.clear();
    }

    long steps() {
        return steps;
    }

    // ---- steps

    private void run(String channel, String[] step) throws IOException {
        switch (step[0]) {
            case "send" -> send(channel, step);
            case "repeat" -> repeat(channel, step);
            case "word" -> publish(connection(channel), number(connection(channel), step[1]));
            case "raw" -> poke(connection(channel), "slot", 0, number(connection(channel), step[1]));
            case "place" ->
                connection(channel).place(number(connection(channel), step[1]), number(connection(channel), step[2]));
            case "isolation" -> connection(channel).isolation(number(connection(channel), step[1]));
            case "deadline" -> connection(channel).deadline(number(connection(channel), step[1]));
            case "poke" ->
                poke(
                        connection(channel),
                        step[1],
                        number(connection(channel), step[2]),
                        number(connection(channel), step[3]));
            case "noise" ->
                noise(connection(channel), step[1], new Random(Long.parseLong(step[2])), Integer.parseInt(step[3]));
            case "graph" ->
                graph(
                        connection(channel),
                        step[1],
                        new Random(Long.parseLong(step[2])),
                        Integer.parseInt(step[3]),
                        new Target(method(channel, step[4]), Integer.parseInt(step[5])));
            case "race" ->
                race(
                        connection(channel),
                        step[1],
                        Long.parseLong(step[2]),
                        new Target(method(channel, step[3]), Integer.parseInt(step[4])));
            case "ring" -> ring(connection(channel), Integer.parseInt(step[1]));
            case "packet" -> packet(connection(channel), Integer.parseInt(step[1]), Integer.parseInt(step[2]));
            case "hello" ->
                hello(channel, step.length == 1 ? new byte[0] : HexFormat.of().parseHex(step[1]));
            case "greet" -> {
                int layout = ControlLayout.VERSION + Integer.parseInt(step[1]);
                hello(
                        channel,
                        new Handshake.ClientHello(layout, channel, Integer.parseInt(step[2]), Long.parseLong(step[3]))
                                .encode());
            }
            case "silence" -> HostileConnection.dial(directory, channel).close();
            case "truncate" -> truncate(connection(channel));
            case "leave" -> leave(channel);
            case "await" -> finish(channel);
            default -> throw new IllegalArgumentException("no step " + step[0]);
        }
    }

    private static int method(String channel, String name) {
        for (MethodDescriptor method : service(channel).methods()) {
            if (method.name().equals(name)) {
                return method.index();
            }
        }
        return Integer.parseInt(name);
    }

    /** A decimal or hexadecimal number, or a Ref into an arena of the connection, such as {@code reply+4096}. */
    private static long number(HostileConnection connection, String text) {
        int plus = text.indexOf('+');
        if (plus > 0) {
            int id = switch (text.substring(0, plus)) {
                case "request" -> connection.serverHello.request().id();
                case "reply" -> connection.serverHello.reply().id();
                case "shared" -> connection.serverHello.shared().id();
                default -> throw new IllegalArgumentException("no arena " + text);
            };
            return Ref.of(id, 0, Long.parseLong(text.substring(plus + 1)));
        }
        return text.startsWith("0x") ? Long.parseUnsignedLong(text.substring(2), 16) : Long.parseLong(text);
    }

    private void send(String channel, String[] step) throws IOException {
        HostileConnection connection = connection(channel);
        byte[] payload = step.length > 4 ? HexFormat.of().parseHex(step[4]) : new byte[0];
        int flags = Integer.parseInt(step[2]);
        if (!makeRoom(connection)) {
            return;
        }
        boolean outside = connection.payload(payload, step[3].equals("outside"));
        connection.publish(SlotLayout.word(
                0,
                method(channel, step[1]),
                outside ? flags | SlotLayout.OUTSIDE : flags,
                outside ? 0 : payload.length));
    }

    private void repeat(String channel, String[] step) throws IOException {
        String repeated = step[4].repeat(Integer.parseInt(step[5]));
        send(channel, new String[] {"send", step[1], step[2], "outside", step[3] + repeated});
    }

    private static void publish(HostileConnection connection, long word) {
        if (makeRoom(connection)) {
            connection.publish(word);
            if (connection.endsWithFillers() && makeRoom(connection)) {
                // Whose answer tells that the filler was taken: its slot may not be written before.
                connection.publish(0);
            }
        }
    }

    private static boolean makeRoom(HostileConnection connection) {
        return connection.hasRoom() || connection.await() == End.ANSWERED;
    }

    private static void poke(HostileConnection connection, String area, long offset, long bits) {
        MemorySegment segment = connection.area(area);
        segment.set(ValueLayout.JAVA_LONG_UNALIGNED, Math.clamp(offset, 0, segment.byteSize() - Long.BYTES), bits);
        connection.spoil(area);
    }

    private static void noise(HostileConnection connection, String area, Random random, int count) {
        MemorySegment segment = connection.area(area);
        for (int i = 0; i < count; i++) {
            long at = random.nextLong(segment.byteSize() / Long.BYTES) * Long.BYTES;
            segment.set(ValueLayout.JAVA_LONG, at, bits(random));
        }
        connection.spoil(area);
        connection.socket.ring();
    }

    /** Bits as they hurt: small, extreme, one bit, or anything. */
    static long bits(Random random) {
        return switch (random.nextInt(8)) {
            case 0 -> random.nextInt(64);
            case 1 -> -1L - random.nextInt(4);
            case 2 -> Long.MAX_VALUE - random.nextInt(4);
            case 3 -> Integer.MAX_VALUE - random.nextInt(4);
            case 4 -> 1L << random.nextInt(Long.SIZE);
            case 5 -> (long) random.nextInt(1 << 16) << 32 | random.nextInt(64);
            case 6 -> random.nextInt() & 0xffff_ffffL;
            default -> random.nextLong();
        };
    }

    // ---- graphs

    private static Scope scope(HostileConnection connection, String arena) {
        Arena chosen = arena.equals("shared") ? connection.sharedArena() : connection.requestArena();
        return chosen.newScope(16 << 10, connection.refs());
    }

    private static MemorySegment build(Scope scope, long[] root) {
        Catalogue.Node node = HostileTarget.graph(scope, "mine", 6);
        root[0] = SharedObject.refOf(node);
        // From the run's own header on.
        long from = Ref.offset(firstRun(root[0]));
        long to = Ref.offset(scope.allocate(Long.BYTES));
        MemorySegment memory = scope.arena().memory();
        return to > from ? memory.asSlice(from, to - from) : memory.asSlice(from, 4096);
    }

    private static void spoil(MemorySegment graph, long root, Random random, int count) {
        long longs = graph.byteSize() / Long.BYTES;
        for (int i = 0; i < count; i++) {
            long at = random.nextLong(longs) * Long.BYTES;
            long other = random.nextLong(longs) * Long.BYTES;
            long value = switch (random.nextInt(5)) {
                case 0 -> graph.get(ValueLayout.JAVA_LONG, other);
                case 1 -> root + other;
                case 2 -> graph.get(ValueLayout.JAVA_LONG, at) ^ 1L << random.nextInt(Long.SIZE);
                default -> bits(random);
            };
            graph.set(ValueLayout.JAVA_LONG, at, value);
        }
    }

    private static long firstRun(long root) {
        return root & -ControlLayout.PAGE;
    }

    private static void graph(HostileConnection connection, String arena, Random random, int spoilt, Target target) {
        try (Scope scope = scope(connection, arena)) {
            long[] root = new long[1];
            MemorySegment graph = build(scope, root);
            spoil(graph, root[0], random, spoilt);
            passAround(connection, root[0], target, 1);
            connection.await();
        } catch (RefException | OutOfArenaException | ScopeException e) {
            // What an earlier case has done to the shared arena hits this client as any other.
            if (!arena.equals("shared")) {
                throw e;
            }
        }
    }

    /** Another thread spoils the graph as long as calls with it last. */
    private static void race(HostileConnection connection, String arena, long seed, Target target) {
        try (Scope scope = scope(connection, arena)) {
            long[] root = new long[1];
            MemorySegment graph = build(scope, root);
            byte[] sane = graph.toArray(ValueLayout.JAVA_BYTE);
            boolean[] done = new boolean[1];
            Thread spoiler = Thread.ofPlatform().start(() -> {
                Random random = new Random(seed);
                while (!isDone(done)) {
                    spoil(graph, root[0], random, 4);
                    MemorySegment.copy(sane, 0, graph, ValueLayout.JAVA_BYTE, 0, sane.length);
                }
            });
            try {
                passAround(connection, root[0], target, RACING_CALLS);
                connection.await();
            } finally {
                synchronized (done) {
                    done[0] = true;
                }
                join(spoiler);
            }
        }
    }

    private static boolean isDone(boolean[] done) {
        synchronized (done) {
            return done[0];
        }
    }

    private static void join(Thread thread) {
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void passAround(HostileConnection connection, long root, Target target, int times) {
        byte[] ref = new byte[Long.BYTES];
        MemorySegment.ofArray(ref).set(ValueLayout.JAVA_LONG_UNALIGNED, 0, root);
        for (int i = 0; i < times && makeRoom(connection); i++) {
            connection.payload(ref, false);
            connection.isolation(firstRun(root));
            connection.publish(SlotLayout.word(0, target.method, target.flags, ref.length));
        }
    }

    // ---- the socket

    private static void ring(HostileConnection connection, int count) {
        for (int i = 0; i < count; i++) {
            connection.socket.ring();
        }
    }

    private static void packet(HostileConnection connection, int bytes, int fds) {
        int[] descriptors = new int[fds];
        Arrays.fill(descriptors, connection.file.fd());
        connection.socket.send(new byte[bytes], descriptors);
    }

    /** Whatever is said instead of a hello: a serverHello, a refusal or an end must come. */
    private void hello(String channel, byte[] message) {
        try (UnixSocket socket = HostileConnection.dial(directory, channel)) {
            if (message.length > 0) {
                socket.send(message, socket.fd());
                Message answer = socket.receive(Duration.ofSeconds(20))
                        .orElseThrow(() -> new AssertionError("no answer to a hello of " + message.length + " bytes"));
                answer.closeFds();
            }
        }
    }

    private static void truncate(HostileConnection connection) throws IOException {
        Path path = Path.of("/proc/self/fd", Integer.toString(connection.file.fd()));
        try (FileChannel channel = FileChannel.open(path, StandardOpenOption.WRITE)) {
            channel.truncate(4096);
            throw new AssertionError("the memory of a connection could be cut");
        } catch (IOException e) {
            if (connection.file.bytes() != FileChannel.open(path).size()) {
                throw new AssertionError("the memory of a connection has another size now", e);
            }
        }
    }
}
