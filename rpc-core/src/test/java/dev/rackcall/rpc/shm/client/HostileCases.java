package dev.rackcall.rpc.shm.client;

import dev.rackcall.rpc.CallObserver;
import dev.rackcall.rpc.Isolation;
import dev.rackcall.rpc.Metadata;
import dev.rackcall.rpc.MethodDescriptor;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.contract.Echo;
import dev.rackcall.rpc.generated.EverythingProbe;
import dev.rackcall.rpc.hostile.Catalogue;
import dev.rackcall.rpc.hostile.HostileTarget;
import dev.rackcall.rpc.shm.protocol.ControlLayout;
import dev.rackcall.rpc.shm.protocol.Handshake;
import dev.rackcall.rpc.shm.protocol.SlotLayout;
import dev.rackcall.rpc.spi.ClientCall;
import dev.rackcall.rpc.spi.ClientCalls;
import dev.rackcall.rpc.spi.ServiceDefinition;
import dev.rackcall.shm.Ref;
import dev.rackcall.shm.Scope;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.stream.Collectors;

/**
 * Makes lines for {@link HostileScript}: those that are kept, and any number from seeds. Many are honest requests,
 * recorded from an honest client's memory, with something changed: what is nearly right comes furthest.
 */
final class HostileCases {
    private static final String KEPT = "/hostile/client-cases.txt";
    private static final int LONGEST_PAYLOAD = 1500;
    private static final List<String> AREAS = List.of("control", "slots", "slot", "request", "reply", "shared");
    private static final List<String> GRAPH_METHODS = List.of("walk", "copy", "take", "same");

    /** A request as an honest client sent it. */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    private record Recorded(String channel, String method, int flags, byte[] payload) {}

    private final List<Recorded> requests;

    private HostileCases(List<Recorded> requests) {
        this.requests = requests;
    }

    /** The lines that are kept, without comments. */
    static List<String> kept() throws IOException {
        try (BufferedReader reader = new BufferedReader(
                new InputStreamReader(HostileCases.class.getResourceAsStream(KEPT), StandardCharsets.UTF_8))) {
            return reader.lines()
                    .map(line -> line.replaceFirst("#.*", "").trim())
                    .filter(line -> !line.isEmpty())
                    .collect(Collectors.toList());
        }
    }

    // ---- recording

    static HostileCases record(Path directory) {
        List<Recorded> all = new ArrayList<>();
        try (Recorder recorder = new Recorder(directory, "/test/echo", all)) {
            Echo echo = ServiceDefinition.of(Echo.class).stub(recorder);
            recorder.note(() -> echo.add(1, 2));
            recorder.note(() -> echo.bytes(new byte[200]));
            recorder.note(() -> echo.bytes(new byte[10_000]));
            recorder.note(() -> echo.parcel(new Echo.Parcel(
                    "name", 3, Echo.Kind.BOX, List.of(1.0, 2.0), Map.of("a", 1L, "b", 2L), Optional.of("note"))));
            recorder.note(() -> echo.later(7, 1).join());
            recorder.note(() -> echo.note("text"));
            recorder.note(() -> echo.count(0, 500).limit(100).forEach(each -> {}));
            recorder.note(() -> echo.failAfter(3).forEach(each -> {}));
            recorder.note(() -> echo.fail("INTERNAL", "why"));
            recorder.note(() -> echo.crash("text"));
            recorder.note(() -> echo.block(1));
            recorder.headers(Metadata.of("key", "value").with("raw-bin", new byte[] {1, 2, 3}));
            recorder.note(() -> echo.header("key"));
            recorder.note(echo::nothing);
        }
        try (Recorder recorder = new Recorder(directory, EverythingProbe.CHANNEL, all);
                Scope scope = recorder.connection.newScope(4096)) {
            EverythingProbe.calls(recorder, scope).forEach(recorder::note);
        }
        try (Recorder recorder = new Recorder(directory, "/test/catalogue", all);
                Scope scope = recorder.connection.newScope(4096)) {
            Catalogue catalogue = ServiceDefinition.of(Catalogue.class).stub(recorder);
            Catalogue.Node graph = HostileTarget.graph(scope, "honest", 4);
            recorder.note(() -> catalogue.walk(graph));
            recorder.note(() -> catalogue.same(List.of(graph, graph)));
            recorder.note(() -> recorder.connection.release(catalogue.copy(graph)));
        }
        return new HostileCases(List.copyOf(all));
    }

    /** Calls honestly and keeps the bytes of each request. */
    private static final class Recorder implements ClientCalls, AutoCloseable {
        final ShmClientConnection connection;
        private final String channel;
        private final List<Recorded> into;
        private final List<ShmClientCall> begun = new ArrayList<>();
        private final List<String> names = new ArrayList<>();
        private Metadata headers = Metadata.EMPTY;

        Recorder(Path directory, String channel, List<Recorded> into) {
            this.channel = channel;
            this.into = into;
            this.connection = LyingServer.connect(channel, directory, Duration.ofSeconds(20));
            connection.use(HostileScript.service(channel));
        }

        void headers(Metadata value) {
            headers = value;
        }

        @Override
        public ClientCall begin(MethodDescriptor method) {
            ShmClientCall call =
                    (ShmClientCall) connection.begin(method, 0, headers, Isolation.TRUSTED, CallObserver.NONE);
            begun.add(call);
            names.add(method.name());
            return call;
        }

        void note(Runnable call) {
            begun.clear();
            names.clear();
            try {
                call.run();
            } catch (RpcException e) {
                assert e.code() != null; // some methods only fail
            }
            for (int i = 0; i < begun.size(); i++) {
                into.add(recorded(begun.get(i).slot, names.get(i)));
            }
        }

        private Recorded recorded(long slot, String name) {
            long word = SlotLayout.requestWord(connection.memory, slot);
            int flags = SlotLayout.flags(word);
            byte[] payload;
            if ((flags & SlotLayout.OUTSIDE) == 0) {
                payload = connection
                        .memory
                        .asSlice(slot + SlotLayout.REQUEST_INLINE, SlotLayout.inlineLength(word))
                        .toArray(ValueLayout.JAVA_BYTE);
            } else {
                payload = connection
                        .arenas
                        .requestArena()
                        .memory()
                        .asSlice(
                                Ref.offset(SlotLayout.requestRef(connection.memory, slot)),
                                Math.min(LONGEST_PAYLOAD, SlotLayout.requestLength(connection.memory, slot)))
                        .toArray(ValueLayout.JAVA_BYTE);
            }
            return new Recorded(channel, name, flags & ~SlotLayout.OUTSIDE, payload);
        }

        @Override
        public void close() {
            connection.close();
        }
    }

    // ---- making

    /** The line of a seed. */
    String of(long seed) {
        Random random = new Random(seed);
        int kind = random.nextInt(100);
        if (kind < 45) {
            return changed(random);
        } else if (kind < 60) {
            return graph(random);
        } else if (kind < 70) {
            return word(random);
        } else if (kind < 77) {
            return placed(random);
        } else if (kind < 84) {
            return control(random);
        } else if (kind < 90) {
            return noise(random);
        } else if (kind < 94) {
            return flood(random);
        } else if (kind < 97) {
            return hello(random);
        }
        return socket(random);
    }

    /** The line of a seed, against the arena that all clients of a channel share. */
    String sharedOf(long seed) {
        Random random = new Random(seed);
        String method = GRAPH_METHODS.get(random.nextInt(GRAPH_METHODS.size()));
        String graph = "graph shared " + random.nextInt() + " " + random.nextInt(30) + " " + method + " "
                + (random.nextBoolean() ? 0 : SlotLayout.SNAPSHOT);
        return switch (random.nextInt(5)) {
            // The header: magic, version, number, quota, reserved bytes.
            case 0 ->
                line(
                        "/test/catalogue",
                        "poke shared " + Long.BYTES * random.nextInt(5) + " 0x"
                                + Long.toHexString(HostileScript.bits(random)),
                        graph);
            // The page table: entries of any state, owner, generation and length.
            case 1 -> {
                String[] steps = new String[1 + random.nextInt(30)];
                for (int i = 0; i < steps.length; i++) {
                    long entry = ((long) random.nextInt(4) << 62)
                            | ((long) random.nextInt(6) << 50)
                            | ((long) random.nextInt(4) << 24)
                            | (random.nextInt(4) == 0 ? 0xffffff : random.nextInt(40));
                    steps[i] =
                            "poke shared " + (4096 + Long.BYTES * random.nextInt(64)) + " 0x" + Long.toHexString(entry);
                }
                steps[steps.length - 1] = graph;
                yield line("/test/catalogue", steps);
            }
            case 2 -> line("/test/catalogue", "noise shared " + random.nextInt() + " " + random.nextInt(3000), graph);
            case 3 -> line("/test/catalogue", graph, "leave");
            default -> line("/test/catalogue", graph, graph);
        };
    }

    private Recorded any(Random random) {
        return requests.get(random.nextInt(requests.size()));
    }

    private String channel(Random random) {
        return HostileTarget.CHANNELS.get(random.nextInt(HostileTarget.CHANNELS.size()));
    }

    private String changed(Random random) {
        Recorded request = any(random);
        byte[] payload = change(request.payload, random);
        int flags = random.nextInt(4) == 0 ? request.flags ^ (1 << random.nextInt(8)) : request.flags;
        flags &= ~(SlotLayout.SKIP | SlotLayout.OUTSIDE);
        return line(
                request.channel,
                "send " + request.method + " " + flags + " "
                        + (random.nextInt(4) == 0 ? "outside " : "inline ")
                        + HexFormat.of().formatHex(payload));
    }

    private byte[] change(byte[] honest, Random random) {
        byte[] payload = honest.clone();
        for (int i = random.nextInt(4); i >= 0 && payload.length > 0; i--) {
            int at = random.nextInt(payload.length);
            switch (random.nextInt(6)) {
                case 0 -> payload[at] = (byte) random.nextInt();
                case 1 -> payload[at] ^= (byte) (1 << random.nextInt(Byte.SIZE));
                case 2 -> payload = Arrays.copyOf(payload, at);
                case 3 -> payload = Arrays.copyOf(payload, payload.length + random.nextInt(40));
                case 4 -> {
                    byte[] other = any(random).payload;
                    int length = Math.min(other.length, payload.length - at);
                    System.arraycopy(other, 0, payload, at, length);
                }
                default -> {
                    long bits = HostileScript.bits(random);
                    for (int b = 0; b < Integer.BYTES && at + b < payload.length; b++) {
                        payload[at + b] = (byte) (bits >>> (Byte.SIZE * b));
                    }
                }
            }
        }
        return payload;
    }

    private static String graph(Random random) {
        String method = GRAPH_METHODS.get(random.nextInt(GRAPH_METHODS.size()));
        String arena = random.nextInt(4) == 0 ? "shared" : "request";
        int flags = random.nextInt(3) == 0 ? SlotLayout.SNAPSHOT : 0;
        flags |= random.nextInt(12) == 0 ? SlotLayout.SEALED : 0;
        return random.nextInt(20) == 0
                ? line("/test/catalogue", "race request " + random.nextInt() + " " + method + " " + flags)
                : line(
                        "/test/catalogue",
                        "graph " + arena + " " + random.nextInt() + " " + random.nextInt(20) + " " + method + " "
                                + flags);
    }

    private String word(Random random) {
        long bits = random.nextLong() & ~0xffff_ffffL;
        return line(
                channel(random),
                "isolation 0x" + Long.toHexString(HostileScript.bits(random)),
                "word 0x" + Long.toHexString(bits));
    }

    private String placed(Random random) {
        long length = random.nextBoolean() ? random.nextInt(10_000) : HostileScript.bits(random);
        String ref = switch (random.nextInt(4)) {
            case 0 -> "request+" + random.nextInt((int) HostileConnection.QUOTA);
            case 1 -> "request+" + (HostileConnection.QUOTA - random.nextInt(100));
            case 2 -> AREAS.get(3 + random.nextInt(3)) + "+" + random.nextInt(1 << 20);
            default -> "0x" + Long.toHexString(HostileScript.bits(random));
        };
        Recorded request = any(random);
        int method = 0;
        for (MethodDescriptor candidate : HostileScript.service(request.channel).methods()) {
            method = candidate.name().equals(request.method) ? candidate.index() : method;
        }
        return line(
                request.channel,
                "place " + length + " " + ref,
                "word 0x" + Long.toHexString(SlotLayout.word(0, method, request.flags | SlotLayout.OUTSIDE, 0)));
    }

    private String control(Random random) {
        StringBuilder steps = new StringBuilder();
        if (random.nextBoolean()) {
            steps.append("send count 0 inline 0000000000100000;");
        }
        for (int i = random.nextInt(4); i >= 0; i--) {
            long operand = random.nextBoolean() ? random.nextInt(6) : HostileScript.bits(random);
            int length = random.nextInt(8) == 0 ? random.nextInt(20) : Long.BYTES;
            byte[] payload = new byte[length];
            for (int b = 0; b < length; b++) {
                payload[b] = (byte) (operand >>> (Byte.SIZE * (b % Long.BYTES)));
            }
            int op = random.nextInt(6) == 0 ? random.nextInt(0x10000) : 1 + random.nextInt(4);
            steps.append("send ")
                    .append(op)
                    .append(' ')
                    .append(SlotLayout.CONTROL)
                    .append(" inline ");
            steps.append(HexFormat.of().formatHex(payload)).append(';');
        }
        return line("/test/echo", steps.substring(0, steps.length() - 1));
    }

    private String noise(Random random) {
        String area = AREAS.get(random.nextInt(AREAS.size()));
        Recorded request = any(random);
        return line(
                request.channel,
                "noise " + area + " " + random.nextInt() + " " + (1 + random.nextInt(200)),
                "send " + request.method + " " + (request.flags & ~SlotLayout.SKIP) + " inline "
                        + HexFormat.of().formatHex(request.payload),
                "noise " + area + " " + random.nextInt() + " " + (1 + random.nextInt(20)));
    }

    private String flood(Random random) {
        Recorded request = any(random);
        String step = "send " + request.method + " " + request.flags + " inline "
                + HexFormat.of().formatHex(request.payload);
        String[] steps = new String[2 + random.nextInt(HostileConnection.SLOTS)];
        Arrays.fill(steps, step);
        steps[steps.length - 1] = random.nextBoolean() ? "leave" : "await";
        return line(request.channel, steps);
    }

    private String hello(Random random) {
        String channel = channel(random);
        byte[] hello = new Handshake.ClientHello(
                        random.nextInt(4) == 0 ? random.nextInt() : ControlLayout.VERSION,
                        random.nextInt(4) == 0 ? channel + "x\n" : channel,
                        random.nextInt(4) == 0 ? (int) HostileScript.bits(random) : 1 << random.nextInt(14),
                        HostileScript.bits(random))
                .encode();
        byte[] message = random.nextBoolean() ? hello : change(hello, random);
        return line(
                channel,
                random.nextInt(8) == 0 ? "silence" : "hello " + HexFormat.of().formatHex(message));
    }

    private String socket(Random random) {
        return line(
                channel(random),
                switch (random.nextInt(4)) {
                    case 0 -> "ring " + random.nextInt(400);
                    case 1 -> "packet " + (1 + random.nextInt(60_000)) + " " + random.nextInt(16);
                    case 2 -> "truncate";
                    default -> "leave";
                },
                "word 0x" + Long.toHexString(SlotLayout.word(0, random.nextInt(14), 0, 0)));
    }

    private static String line(String channel, String... steps) {
        return channel + ": " + String.join("; ", steps);
    }
}
