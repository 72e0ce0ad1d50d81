package dev.rackcall.rpc.generated;

import dev.rackcall.rpc.Rpc;
import dev.rackcall.rpc.RpcService;
import dev.rackcall.shm.types.Shared;
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
import java.time.ZonedDateTime;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

/** Each kind of value and each style of call that the processor knows. */
@RpcService(
        value = "/test/everything",
        registered = {Everything.Legacy.class, Everything.Circle.class})
interface Everything extends Inherited<String, Everything.Point> {
    /** All primitives, boxes, and text. */
    record Simple(
            boolean truth,
            byte tiny,
            short small,
            char letter,
            int number,
            long big,
            float rough,
            double fine,
            Boolean truthBox,
            Byte tinyBox,
            Short smallBox,
            Character letterBox,
            Integer numberBox,
            Long bigBox,
            Float roughBox,
            Double fineBox,
            String text,
            Color color) {}

    /** Arrays of primitives, and of other things. */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    record ArraysOf(
            boolean[] truths,
            byte[] bytes,
            short[] shorts,
            char[] chars,
            int[] ints,
            long[] longs,
            float[] floats,
            double[] doubles,
            String[] texts,
            int[][] table,
            Point[] points) {}

    /** Other value types of the JDK. */
    record Jdk(
            UUID uuid,
            BigInteger integer,
            BigDecimal decimal,
            Duration duration,
            Instant instant,
            LocalDate date,
            LocalTime time,
            LocalDateTime dateTime,
            OffsetDateTime offset,
            ZonedDateTime zoned,
            Period period,
            URI uri,
            Locale locale) {}

    record Page<T>(List<T> items, Optional<Page<T>> next) {}

    /** One of several; contains itself. */
    sealed interface Figure<T> {}

    record Disc<T>(T radius) implements Figure<T> {}

    record Joined<T>(Figure<T> one, List<Figure<T>> more) implements Figure<T> {}

    enum Unit implements Figure<Point> {
        UNIT
    }

    /** Collections in collections. */
    record Nested(
            List<String> list,
            Set<Color> set,
            Map<String, List<Optional<Point>>> map,
            Optional<Optional<String>> twice,
            List<byte[]> blobs,
            Map<Point, Set<Long>> byPoint,
            List<Nothing> nothings) {}

    record Point(int x, int y) {
        public Point {
            if (x < 0) {
                throw new IllegalArgumentException("x is " + x + ", which is left of everything");
            }
        }
    }

    /** Still takes one byte. */
    record Nothing() {}

    /** Names that generated code also uses. */
    record Tree(long in, Optional<Tree> call, List<Tree> name, String e) {}

    enum Color {
        RED,
        GREEN {
            @Override
            boolean calm() {
                return true;
            }
        };

        boolean calm() {
            return false;
        }
    }

    /** Neither a record nor an enum: Kryo encodes it. */
    final class Legacy {
        private final String title;
        private final List<String> words;

        Legacy(String title, List<String> words) {
            this.title = title;
            this.words = words;
        }

        @Override
        public String toString() {
            return title + words;
        }
    }

    /** Not registered; the class that extends it is. */
    abstract class Shape {
        abstract double area();
    }

    final class Circle extends Shape {
        private final double radius;

        Circle(double radius) {
            this.radius = radius;
        }

        @Override
        double area() {
            return Math.PI * radius * radius;
        }
    }

    /** A shared type: its Ref travels. */
    @Shared
    interface Note {
        long id();

        void id(long value);
    }

    /** A record that holds Refs. */
    record Attachment(String name, Note note, List<Note> more, Optional<Attachment> inner) {}

    @Rpc
    Simple simple(Simple value);

    @Rpc
    ArraysOf arrays(ArraysOf value);

    @Rpc
    Jdk jdk(Jdk value);

    @Rpc
    Nested nested(Nested value);

    @Rpc
    Tree tree(Tree value);

    @Rpc
    Page<Figure<Point>> page(Page<Figure<Point>> page);

    @Rpc
    String primitives(boolean a, byte b, short c, char d, int e, long f, float g, double h);

    @Rpc
    Boolean boxes(Byte b, Short c, Character d, Integer e, Long f, Float g, Double h);

    @Rpc(idempotent = true)
    int join(String... parts);

    @Rpc
    int join(int... parts);

    @Rpc
    int join(List<String> parts, Point point);

    @Rpc
    String names(String out, int in, long call, Point calls, List<String> service, byte[] result, Color e, double t);

    @Rpc
    void nothing();

    @Rpc
    Legacy legacy(Legacy legacy);

    @Rpc
    List<Shape> shapes(List<Shape> shapes);

    @Rpc
    Note note(Note note);

    @Rpc
    Attachment attachment(Attachment attachment, Map<String, Note> byName, Note... more);

    @Rpc
    CompletableFuture<Point> later(Point point);

    @Rpc
    CompletableFuture<Void> sometime(String call);

    @Rpc
    CompletableFuture<List<Note>> notesLater(Note note);

    @Rpc
    Stream<Point> points(int count);

    @Rpc
    Stream<Note> notes(Note note);

    @Rpc(oneWay = true)
    void tell(String what);

    default int joinTwice(String part) {
        return join(part, part);
    }

    static String notCalled() {
        return "static methods are none of the processor's business";
    }
}
