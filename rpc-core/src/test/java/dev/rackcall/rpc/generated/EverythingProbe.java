package dev.rackcall.rpc.generated;

import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.generated.Everything.Attachment;
import dev.rackcall.rpc.generated.Everything.Color;
import dev.rackcall.rpc.generated.Everything.Legacy;
import dev.rackcall.rpc.generated.Everything.Nested;
import dev.rackcall.rpc.generated.Everything.Note;
import dev.rackcall.rpc.generated.Everything.Nothing;
import dev.rackcall.rpc.generated.Everything.Point;
import dev.rackcall.rpc.generated.Everything.Simple;
import dev.rackcall.rpc.generated.Everything.Tree;
import dev.rackcall.rpc.spi.ClientCalls;
import dev.rackcall.rpc.spi.ServiceDefinition;
import dev.rackcall.shm.Scope;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.time.Period;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;

/** Lets tests of other packages serve {@link Everything} and call each of its methods, without knowing what it has. */
public final class EverythingProbe {
    public static final String CHANNEL = "/test/everything";

    private EverythingProbe() {}

    /** Adds the service, which forgets what was called. */
    public static RpcServer.Builder addTo(RpcServer.Builder builder) {
        EverythingService service = new EverythingService();
        return builder.service(Everything.class, service).interceptor((call, next) -> {
            if (call.method().fullName().startsWith(CHANNEL)) {
                service.calls.clear();
            }
            next.run();
        });
    }

    public static ServiceDefinition<?> definition() {
        return ServiceDefinition.of(Everything.class);
    }

    /** One step for each method, which calls it with a value in every argument. */
    public static List<Runnable> calls(ClientCalls calls, Scope scope) {
        Everything stub = ServiceDefinition.of(Everything.class).stub(calls);
        Note note = scope.create(Note.class);
        note.id(7);
        Point point = new Point(3, -4);
        Tree leaf = new Tree(1, Optional.empty(), List.of(), "leaf");
        Attachment inner = new Attachment("inner", note, List.of(), Optional.empty());
        return List.of(
                () -> stub.simple(simple()),
                () -> stub.arrays(arrays()),
                () -> stub.jdk(jdk()),
                () -> stub.nested(nested()),
                () -> stub.tree(new Tree(2, Optional.of(leaf), List.of(leaf, leaf), "root")),
                () -> stub.primitives(true, (byte) 1, (short) 2, 'c', 4, 5, 6.5f, 7.5),
                () -> stub.boxes((byte) 1, (short) 2, 'c', 4, 5L, 6.5f, 7.5),
                () -> stub.join("a", "b", "c"),
                () -> stub.join(1, 2, 3),
                () -> stub.join(List.of("x"), point),
                () -> stub.names("o", 1, 2, point, List.of("s"), new byte[5], Color.RED, 6),
                () -> stub.mapped("k", point),
                stub::nothing,
                () -> stub.legacy(new Legacy("title", List.of("some", "words"))),
                () -> stub.shapes(List.of(new Everything.Circle(1), new Everything.Circle(2))),
                () -> stub.note(note),
                () -> stub.attachment(
                        new Attachment("outer", note, List.of(note, note), Optional.of(inner)),
                        Map.of("a", note),
                        note),
                () -> stub.later(point).join(),
                () -> stub.sometime("soon").join(),
                () -> stub.notesLater(note).join(),
                () -> stub.points(100).forEach(each -> {}),
                () -> stub.notes(note).forEach(each -> {}),
                () -> stub.tell("something"));
    }

    static Simple simple() {
        return new Simple(
                true,
                (byte) -1,
                (short) -2,
                'ä',
                -3,
                -4L,
                1.5f,
                -2.5,
                false,
                (byte) 1,
                (short) 2,
                'b',
                3,
                4L,
                5.5f,
                6.5,
                "tëxt",
                Color.GREEN);
    }

    static Everything.ArraysOf arrays() {
        return new Everything.ArraysOf(
                new boolean[] {true, false},
                new byte[] {1, -1},
                new short[] {2},
                new char[] {'c', 'ö'},
                new int[] {4, 5},
                new long[] {6},
                new float[] {7.5f},
                new double[] {},
                new String[] {"a", ""},
                new int[][] {{1, 2}, {}, {3}},
                new Point[] {new Point(1, 2)});
    }

    static Everything.Jdk jdk() {
        return new Everything.Jdk(
                new UUID(1, -2),
                BigInteger.TWO.pow(100).negate(),
                new BigDecimal("-12.345600"),
                Duration.ofMillis(-1),
                Instant.parse("1969-07-20T20:17:40.123456789Z"),
                LocalDate.of(-44, 3, 15),
                LocalTime.of(23, 59, 59, 999_999_999),
                LocalDateTime.of(2024, 2, 29, 12, 0),
                OffsetDateTime.of(2024, 2, 29, 12, 0, 0, 1, ZoneOffset.ofHoursMinutes(-3, -30)),
                ZonedDateTime.of(LocalDateTime.of(2024, 10, 27, 2, 30), ZoneId.of("Europe/Berlin")),
                Period.of(1, -2, 3),
                URI.create("https://example.org/a?b#c"),
                Locale.CANADA_FRENCH);
    }

    static Nested nested() {
        return new Nested(
                List.of("a", "b"),
                Set.of(Color.GREEN),
                Map.of("k", List.of(Optional.of(new Point(1, 2)), Optional.empty())),
                Optional.of(Optional.empty()),
                List.of(new byte[] {1}, new byte[0]),
                Map.of(new Point(0, 0), Set.of(1L, 2L)),
                List.of(new Nothing(), new Nothing()));
    }
}
