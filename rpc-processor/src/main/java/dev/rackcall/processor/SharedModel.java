package dev.rackcall.processor;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import javax.lang.model.element.Element;
import javax.lang.model.element.TypeElement;

/**
 * The layout of one shared interface.
 *
 * <p>Fields lie behind the 8-byte header, largest alignment first and by name within one alignment. Every field's size
 * is a multiple of its alignment, so there is no padding between them. The order of methods in the source does not
 * matter. Fields that a later version has added ({@code @Since}) lie behind those of the earlier versions, at the next
 * multiple of 8, so that an object of an earlier version is the beginning of one of a later version.
 */
final class SharedModel {
    /** {int typeId, int bytes} at the start of every object. */
    static final int HEADER_BYTES = 8;

    private static final int MAX_BYTES = 1 << 30;

    /** Something that the author of the interface has to change. */
    record Problem(Element at, String message) {}

    private final TypeElement type;
    private final List<SharedField> fields;
    private final List<Problem> problems;
    private final int alignment;
    private final int embeddedBytes;

    private SharedModel(TypeElement type, List<SharedField> unplaced, List<Problem> problems) {
        this.type = type;
        this.problems = new ArrayList<>(problems);
        this.fields = new ArrayList<>();
        List<SharedField> order = new ArrayList<>(unplaced);
        order.sort(Comparator.comparingInt(SharedField::since)
                .thenComparingInt(field -> -field.type().alignment())
                .thenComparing(SharedField::name));
        long offset = HEADER_BYTES;
        int version = order.isEmpty() ? SharedField.FIRST_VERSION : order.get(0).since();
        for (SharedField field : order) {
            if (field.since() != version) {
                version = field.since();
                offset = roundUp(offset, Long.BYTES);
            }
            fields.add(field.at((int) offset));
            offset += field.type().bytes();
            if (offset > MAX_BYTES) {
                this.problems.add(new Problem(
                        field.getter(),
                        Declarations.name(field.getter()) + ": the record is larger than " + MAX_BYTES
                                + " bytes; make the array a reference instead of @Length"));
                break;
            }
        }
        alignment =
                order.stream().mapToInt(field -> field.type().alignment()).max().orElse(1);
        embeddedBytes = (int) roundUp(offset - HEADER_BYTES, alignment);
    }

    /**
     * Reads the layout of a shared interface. Never fails: what is wrong with the interface is in {@link #problems()},
     * and the offending accessors are left out.
     */
    static SharedModel of(TypeElement sharedInterface) {
        return of(sharedInterface, List.of());
    }

    /** @param embedding the interfaces that embed this one, outermost first */
    static SharedModel of(TypeElement sharedInterface, List<TypeElement> embedding) {
        SharedInterfaceReader reader = new SharedInterfaceReader(sharedInterface, embedding);
        return new SharedModel(sharedInterface, reader.fields(), reader.problems());
    }

    TypeElement type() {
        return type;
    }

    /** The name at run time: the interface's qualified name. */
    String name() {
        return type.getQualifiedName().toString();
    }

    /** Fields in the order of their offsets. */
    List<SharedField> fields() {
        return fields;
    }

    List<Problem> problems() {
        return problems;
    }

    /** Bytes of an object, header included; a multiple of 8. */
    int bytes() {
        return (int) roundUp((long) HEADER_BYTES + embeddedBytes, Long.BYTES);
    }

    /** Bytes that the fields take when the type lies inside another record. */
    int embeddedBytes() {
        return embeddedBytes;
    }

    int alignment() {
        return alignment;
    }

    /** This type's own record in one line, version by version; referenced types appear only by name. */
    String layout() {
        return name() + String.join("", versions());
    }

    private List<Integer> versionNumbers() {
        List<Integer> numbers = new ArrayList<>(
                fields.stream().map(SharedField::since).distinct().toList());
        if (!numbers.contains(SharedField.FIRST_VERSION)) {
            numbers.add(0, SharedField.FIRST_VERSION);
        }
        return numbers;
    }

    private List<String> versions() {
        return versionNumbers().stream()
                .map(number -> fields.stream()
                        .filter(field -> field.since() == number)
                        .map(SharedField::describe)
                        .collect(Collectors.joining(", ", "{", "}:" + bytesOf(number))))
                .toList();
    }

    /** Bytes of an object of that version, header included. */
    private int bytesOf(int version) {
        int end = fields.stream()
                .filter(field -> field.since() <= version)
                .mapToInt(SharedField::end)
                .max()
                .orElse(HEADER_BYTES);
        return (int) roundUp(end, Long.BYTES);
    }

    /** Bytes of an object of each version, oldest first. */
    String versionBytes() {
        return versionNumbers().stream()
                .map(number -> String.valueOf(bytesOf(number)))
                .collect(Collectors.joining(", "));
    }

    boolean hasVersions() {
        return fields.stream().anyMatch(SharedField::isAdded);
    }

    /**
     * The number in the header of every object, never 0: a hash of what never changes, the {@link #layout()} of the first
     * version without the constants of its enums.
     */
    int typeId() {
        return Fingerprint.typeId(name() + versions().get(0).replaceAll("(enum [^\\[]*)\\[[^]]*]", "$1"));
    }

    /** The layout of this type and then of every shared type that it can reach, by name: one line each. */
    String description() {
        Map<String, String> reached = new TreeMap<>();
        Deque<SharedModel> open = new ArrayDeque<>(List.of(this));
        while (!open.isEmpty()) {
            for (SharedField field : open.pop().fields) {
                for (TypeElement mentioned : field.type().mentions()) {
                    String mentionedName = mentioned.getQualifiedName().toString();
                    if (!mentionedName.equals(name()) && !reached.containsKey(mentionedName)) {
                        SharedModel model = of(mentioned);
                        reached.put(mentionedName, model.layout());
                        open.push(model);
                    }
                }
            }
        }
        List<String> lines = new ArrayList<>(List.of(layout()));
        lines.addAll(reached.values());
        return String.join("\n", lines);
    }

    /** A hash of {@link #description()}: equal at both ends means that they understand each other's objects. */
    long fingerprint() {
        return Fingerprint.of(description());
    }

    private static long roundUp(long value, int multiple) {
        return (value + multiple - 1) / multiple * multiple;
    }
}
