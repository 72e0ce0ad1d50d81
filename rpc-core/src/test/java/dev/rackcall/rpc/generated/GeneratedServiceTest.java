package dev.rackcall.rpc.generated;

import static dev.rackcall.testkit.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.rackcall.rpc.MethodDescriptor;
import dev.rackcall.rpc.MethodDescriptor.Kind;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.generated.Everything.Attachment;
import dev.rackcall.rpc.generated.Everything.Circle;
import dev.rackcall.rpc.generated.Everything.Color;
import dev.rackcall.rpc.generated.Everything.Disc;
import dev.rackcall.rpc.generated.Everything.Figure;
import dev.rackcall.rpc.generated.Everything.Joined;
import dev.rackcall.rpc.generated.Everything.Legacy;
import dev.rackcall.rpc.generated.Everything.Note;
import dev.rackcall.rpc.generated.Everything.Page;
import dev.rackcall.rpc.generated.Everything.Point;
import dev.rackcall.rpc.generated.Everything.Shape;
import dev.rackcall.rpc.generated.Everything.Tree;
import dev.rackcall.rpc.spi.ServiceDefinition;
import dev.rackcall.shm.codec.PayloadException;
import dev.rackcall.shm.codec.PayloadWriter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class GeneratedServiceTest {
    private static final long SEED = Long.getLong("rackcall.seed", System.nanoTime());

    private final ServiceDefinition<Everything> definition = ServiceDefinition.of(Everything.class);
    private final EverythingService service = new EverythingService();
    private final Loopback calls = Loopback.of(definition, service);
    private final Everything stub = definition.stub(calls);

    @AfterEach
    void everyCallShouldHaveEnded() {
        calls.close();
        assertThat(calls.openCalls()).as("calls that were begun and not ended").isZero();
    }

    /** A note without an arena: the loop-back passes objects on. */
    private static Note note(long id) {
        return new Note() {
            @Override
            public long id() {
                return id;
            }

            @Override
            public void id(long value) {
                throw new UnsupportedOperationException("not here");
            }
        };
    }

    private static Tree tree(Random random, int depth) {
        List<Tree> children = new ArrayList<>();
        for (int i = depth == 0 ? 0 : random.nextInt(4); i > 0; i--) {
            children.add(tree(random, depth - 1));
        }
        Optional<Tree> child =
                depth > 0 && random.nextBoolean() ? Optional.of(tree(random, depth - 1)) : Optional.empty();
        return new Tree(random.nextLong(), child, children, "e" + random.nextInt());
    }

    @Test
    void shouldCarryEveryKindOfValue() {
        assertThat(stub.simple(EverythingProbe.simple())).isEqualTo(EverythingProbe.simple());
        assertThat(stub.arrays(EverythingProbe.arrays()))
                .usingRecursiveComparison()
                .isEqualTo(EverythingProbe.arrays());
        assertThat(stub.jdk(EverythingProbe.jdk())).isEqualTo(EverythingProbe.jdk());
        assertThat(stub.nested(EverythingProbe.nested()))
                .usingRecursiveComparison()
                .isEqualTo(EverythingProbe.nested());
        assertThat(stub.primitives(true, (byte) 1, (short) 2, 'c', 4, 5, 6.5f, 7.5))
                .isEqualTo("true 1 2 c 4 5 6.5 7.5");
        assertThat(stub.boxes((byte) 1, (short) 2, 'c', 4, 5L, 6.5f, 7.5)).isTrue();
        assertThat(service.calls)
                .containsExactly("simple", "arrays", "jdk", "nested", "primitives", "boxes 1 2 c 4 5 6.5 7.5");
    }

    @Test
    void shouldCarryRecordsThatContainThemselves() {
        Random random = new Random(SEED);
        for (int i = 0; i < 50; i++) {
            Tree tree = tree(random, 5);
            assertThat(stub.tree(tree)).as("seed %d", SEED).isEqualTo(tree);
        }
    }

    @Test
    void shouldCarryGenericRecordsAndSealedInterfaces() {
        Disc<Point> disc = new Disc<>(new Point(1, 2));
        Joined<Point> joined = new Joined<>(disc, List.of(Everything.Unit.UNIT, new Joined<>(disc, List.of())));
        Page<Figure<Point>> last = new Page<>(List.of(), Optional.empty());
        Page<Figure<Point>> page = new Page<>(List.of(joined, disc, Everything.Unit.UNIT), Optional.of(last));
        assertThat(stub.page(page)).isEqualTo(page);
    }

    @Test
    void shouldBoundHowDeepSealedInterfacesNest() {
        Figure<Point> deep = Everything.Unit.UNIT;
        for (int i = 0; i <= PayloadWriter.MAX_DEPTH; i++) {
            deep = new Joined<>(deep, List.of());
        }
        Page<Figure<Point>> page = new Page<>(List.of(deep), Optional.empty());
        assertThrown(RpcException.class, () -> stub.page(page), "INVALID_ARGUMENT", "nested more than 128 deep");
    }

    @Test
    void shouldBoundHowDeepRecordsNest() {
        Tree deep = new Tree(0, Optional.empty(), List.of(), "");
        for (int i = 1; i < PayloadWriter.MAX_DEPTH; i++) {
            deep = new Tree(i, Optional.of(deep), List.of(), "");
        }
        assertThat(stub.tree(deep)).isEqualTo(deep);
        Tree tooDeep = new Tree(0, Optional.of(deep), List.of(), "");
        assertThrown(
                RpcException.class,
                () -> stub.tree(tooDeep),
                "INVALID_ARGUMENT",
                "Everything.Tree is nested more than 128 deep");
    }

    @Test
    void shouldTellOverloadsAndNamesApart() {
        assertThat(stub.join("a", "b", "c")).isEqualTo(3);
        assertThat(stub.join(1, 2, 3)).isEqualTo(6);
        assertThat(stub.join(List.of("x"), new Point(1, 2))).isEqualTo(-1);
        assertThat(stub.joinTwice("y")).isEqualTo(2);
        assertThat(stub.mapped("k", new Point(3, 4))).containsExactly(Map.entry("k", new Point(3, 4)));
        assertThat(stub.names("o", 1, 2, new Point(3, 4), List.of("s"), new byte[5], Color.RED, 6))
                .isEqualTo("o12Point[x=3, y=4][s]5RED6.0");
        stub.nothing();
        assertThat(service.calls)
                .containsExactly(
                        "join [a, b, c]",
                        "join ints",
                        "join [x] Point[x=1, y=2]",
                        "join [y, y]",
                        "mapped",
                        "names",
                        "nothing");
    }

    @Test
    void shouldCarryRegisteredClasses() {
        assertThat(stub.legacy(new Legacy("title", List.of("a", "b")))).hasToString("title[a, b]");
        List<Shape> shapes = stub.shapes(List.of(new Circle(1), new Circle(2)));
        assertThat(shapes).extracting(Shape::area).containsExactly(Math.PI, 4 * Math.PI);
        assertThat(definition.registered()).containsExactly(Legacy.class, Circle.class);
    }

    @Test
    void shouldPassSharedObjectsByRef() {
        Note note = note(7);
        assertThat(stub.note(note)).isSameAs(note);
        Attachment attachment = new Attachment(
                "outer",
                note,
                List.of(note(8), note(9)),
                Optional.of(new Attachment("inner", note, List.of(), Optional.empty())));
        Attachment back = stub.attachment(attachment, Map.of("k", note), note, note);
        assertThat(back).isEqualTo(attachment);
        assertThat(service.calls).containsExactly("note 7", "attachment [k] 2");
    }

    @Test
    void shouldCallInEveryStyle() {
        assertThat(stub.later(new Point(1, 2))).isCompletedWithValue(new Point(1, 2));
        assertThat(stub.sometime("now")).isCompletedWithValue(null);
        assertThat(stub.points(3)).containsExactly(new Point(0, 0), new Point(1, -1), new Point(2, -2));
        assertThat(stub.points(0)).isEmpty();
        stub.tell("all");
        Note note = note(1);
        assertThat(stub.notes(note)).containsExactly(note, note, note);
        assertThat(stub.notesLater(note)).isCompletedWithValue(List.of(note, note));
        assertThat(service.calls)
                .containsExactly("later", "sometime now", "points", "points", "tell all", "notes", "notesLater");
    }

    @Test
    void shouldRefuseNullArgumentsAtTheCaller() {
        assertRefused(() -> stub.simple(null), "/test/everything/simple: 'value' is null");
        assertRefused(() -> stub.boxes((byte) 1, null, 'c', 4, 5L, 6.5f, 7.5), "'c' is null");
        assertRefused(() -> stub.join((String[]) null), "'parts' is null");
        assertRefused(() -> stub.join("a", null), "an element of 'parts' is null");
        assertRefused(() -> stub.join(Arrays.asList("a", null), new Point(0, 0)), "an element of 'parts' is null");
        assertRefused(() -> stub.later(null), "'point' is null");
        assertRefused(() -> stub.tell(null), "'what' is null");
        assertRefused(() -> stub.legacy(null), "'legacy' is null");
        assertRefused(() -> stub.note(null), "argument 'note' is null");
        assertRefused(() -> stub.tree(new Tree(1, Optional.empty(), List.of(), null)), "'Everything.Tree.e' is null");
        assertRefused(
                () -> stub.attachment(new Attachment("a", null, List.of(), Optional.empty()), Map.of()),
                "argument 'Everything.Attachment.note' is null");
        assertThat(calls.sent()).as("calls that went out all the same").isZero();
    }

    private static void assertRefused(ThrowingCallable call, String message) {
        assertThatThrownBy(call)
                .isInstanceOfSatisfying(
                        RpcException.class, e -> assertThat(e.code()).isEqualTo(Status.Code.INVALID_ARGUMENT))
                .hasMessageContaining(message);
    }

    @Test
    void shouldBlameTheHandlerForNullResults() {
        EverythingService forgetful = new EverythingService() {
            @Override
            public Jdk jdk(Jdk value) {
                return null;
            }

            @Override
            public Boolean boxes(Byte b, Short c, Character d, Integer e, Long f, Float g, Double h) {
                return null;
            }

            @Override
            public Note note(Note note) {
                return null;
            }

            @Override
            public Stream<Point> points(int count) {
                return Arrays.asList(new Point(1, 1), null).stream();
            }
        };
        try (Loopback loopback = Loopback.of(definition, forgetful)) {
            Everything other = definition.stub(loopback);
            assertInternal(() -> other.jdk(EverythingProbe.jdk()), "/test/everything/jdk: 'result' is null");
            assertInternal(() -> other.boxes((byte) 1, (short) 1, 'c', 4, 5L, 6.5f, 7.5), "'result' is null");
            assertInternal(() -> other.note(note(1)), "'result' is null");
            assertInternal(() -> other.points(1), "'result' is null");
        }
    }

    private static void assertInternal(ThrowingCallable call, String message) {
        assertThatThrownBy(call)
                .isInstanceOfSatisfying(
                        RpcException.class, e -> assertThat(e.code()).isEqualTo(Status.Code.INTERNAL))
                .hasMessageContaining(message);
    }

    @Test
    void shouldNotCallTheHandlerWithWhatARecordRefuses() {
        assertThat(stub.later(new Point(1, 2))).isCompleted();
        byte[] arguments = calls.lastArguments();
        arguments[3] = (byte) 0x80;
        assertThrown(
                PayloadException.class,
                () -> calls.dispatch(index("later"), arguments),
                "record Everything.Point refuses its components",
                "left of everything");
        assertThat(service.calls).containsExactly("later");
    }

    @Test
    void shouldAnswerHostileArgumentsWithAnExceptionOnly() {
        Random random = new Random(SEED);
        List<Runnable> honest = List.of(
                () -> stub.simple(EverythingProbe.simple()),
                () -> stub.arrays(EverythingProbe.arrays()),
                () -> stub.jdk(EverythingProbe.jdk()),
                () -> stub.nested(EverythingProbe.nested()),
                () -> stub.tree(tree(random, 3)),
                () -> stub.join("a", "b"),
                () -> stub.legacy(new Legacy("title", List.of("a"))),
                () -> stub.attachment(
                        new Attachment("a", note(1), List.of(note(2)), Optional.empty()), Map.of("k", note(3))));
        List<String> methods = List.of("simple", "arrays", "jdk", "nested", "tree", "join", "legacy", "attachment");
        for (int i = 0; i < honest.size(); i++) {
            honest.get(i).run();
            byte[] arguments = calls.lastArguments();
            int method = i == 5 ? index("join", "int join(String... parts)") : index(methods.get(i));
            for (int length = 0; length < arguments.length; length++) {
                byte[] cut = Arrays.copyOf(arguments, length);
                assertThatThrownBy(() -> calls.dispatch(method, cut))
                        .as("%s, %d of %d bytes, seed %d", methods.get(i), length, arguments.length, SEED)
                        .isInstanceOf(PayloadException.class);
            }
            assertThrown(
                    PayloadException.class,
                    () -> calls.dispatch(method, Arrays.copyOf(arguments, arguments.length + 1)),
                    "left over");
            for (int round = 0; round < 1_000; round++) {
                byte[] tampered = arguments.clone();
                for (int changes = 1 + random.nextInt(3); changes > 0; changes--) {
                    tampered[random.nextInt(tampered.length)] = (byte) random.nextInt();
                }
                dispatchTampered(methods.get(i), method, tampered);
            }
        }
    }

    private void dispatchTampered(String name, int method, byte[] arguments) {
        try {
            calls.dispatch(method, arguments);
        } catch (PayloadException e) {
            assertThat(e).hasMessageNotContaining("null is null");
        } catch (RpcException e) {
            assertThat(e.code()).isEqualTo(Status.Code.INVALID_ARGUMENT);
        } catch (Exception e) {
            throw new AssertionError("seed " + SEED + ", " + name + " " + Arrays.toString(arguments) + ": " + e, e);
        }
    }

    @Test
    void shouldRefuseMethodsThatAreNotThere() {
        assertThrown(
                IllegalArgumentException.class,
                () -> calls.dispatch(definition.methods().size(), new byte[0]),
                "/test/everything");
    }

    @Test
    void shouldDescribeItsMethods() {
        List<MethodDescriptor> methods = definition.methods();
        for (int i = 0; i < methods.size(); i++) {
            assertThat(methods.get(i).index()).isEqualTo(i);
            assertThat(methods.get(i).service()).isEqualTo("/test/everything");
        }
        MethodDescriptor join = methods.get(index("join", "int join(String... parts)"));
        assertThat(join.idempotent()).isTrue();
        assertThat(join.kind()).isEqualTo(Kind.UNARY);
        assertThat(methods.get(index("later")).kind()).isEqualTo(Kind.ASYNC);
        assertThat(methods.get(index("tell")).kind()).isEqualTo(Kind.ONE_WAY);
        assertThat(methods.get(index("points")).kind()).isEqualTo(Kind.SERVER_STREAM);
        assertThat(methods.get(index("mapped")).signature())
                .isEqualTo("Map<String, Everything.Point> mapped(String key, Everything.Point value)");
        assertThat(methods)
                .extracting(MethodDescriptor::name)
                .doesNotContain("joinTwice", "notCalled", "toString")
                .isSorted();
    }

    @Test
    void shouldDescribeEveryTypeThatMatters() {
        String name = Everything.class.getName();
        assertThat(definition.description().lines())
                .startsWith("service /test/everything")
                .contains(
                        "enum " + name + ".Color{RED, GREEN}",
                        "record " + name + ".Point(int x, int y)",
                        "record " + name + ".Nothing()",
                        "registered 0 " + name
                                + ".Legacy{java.lang.String title, java.util.List<java.lang.String> words}",
                        "registered 1 " + name + ".Circle{double radius}")
                .anyMatch(line -> line.matches("\\d+ one_way void tell\\(String what\\)"))
                .anyMatch(line -> line.startsWith("shared " + name + ".Note{"));
        assertThat(definition.type()).isEqualTo(Everything.class);
        assertThat(definition.channel()).isEqualTo("/test/everything");
    }

    private int index(String name) {
        return definition.methods().stream()
                .filter(method -> method.name().equals(name))
                .findFirst()
                .orElseThrow()
                .index();
    }

    private int index(String name, String signature) {
        return definition.methods().stream()
                .filter(method ->
                        method.name().equals(name) && method.signature().equals(signature))
                .findFirst()
                .orElseThrow()
                .index();
    }
}
