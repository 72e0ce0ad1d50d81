package dev.rackcall.perf.objects;

import dev.rackcall.perf.harness.BenchArena;
import dev.rackcall.shm.Ref;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.types.DeepCopy;
import dev.rackcall.shm.types.SharedInlineArray;
import dev.rackcall.shm.types.SharedObject;
import dev.rackcall.shm.types.SharedString;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * A document of 21 values in the manner of NoBench. All sides write it from the same maps and lists, and read all its
 * values. The names of members are written once and shared by the documents of a scope, as the sample application does.
 */
final class DocumentSubjects {
    private static final int SPARSE = 10;
    private static final int MAX_DEPTH = 4;

    private final Map<String, Object> source = source();
    private final Map<String, Ref<SharedString>> names = new HashMap<>();
    private final JsonMapper mapper = JsonMapper.builder().build();
    private final byte[] json = mapper.writeValueAsBytes(source);
    private final Scope written;
    private final Scope read;

    private final Field writtenRoot = Field.TYPE.flyweight();
    private final Field[] writers = new Field[MAX_DEPTH];
    private final List<SharedInlineArray<Field>> writtenArrays = new ArrayList<>();
    private final SharedString made = SharedString.TYPE.flyweight();
    private final Field[] values = new Field[MAX_DEPTH];
    private final List<SharedInlineArray<Field>> arrays = new ArrayList<>();
    private final SharedString text = SharedString.TYPE.flyweight();
    private final Field root = Field.TYPE.flyweight();
    private long bytes;

    private DocumentSubjects(BenchArena memory) {
        for (int i = 0; i < MAX_DEPTH; i++) {
            writers[i] = Field.TYPE.flyweight();
            writtenArrays.add(Field.CHILDREN.flyweight());
            values[i] = Field.TYPE.flyweight();
            arrays.add(Field.CHILDREN.flyweight());
        }
        read = memory.arena().newScope();
        written = memory.arena().newScope();
        Field.TYPE.move(root, read.space(), SharedObject.refOf(write(read)));
    }

    static List<ObjectSubject> of(BenchArena memory) {
        DocumentSubjects documents = new DocumentSubjects(memory);
        int length = documents.json.length;
        long bytes = documents.measureBytes();
        List<ObjectSubject> subjects = new ArrayList<>(List.of(
                new ObjectSubject("write-document-rackcall", documents::writeShared, bytes, 1),
                new ObjectSubject("write-document-jackson", documents::writeJson, length, 1),
                new ObjectSubject("write-document-heap", documents::writeHeap, 0, 1),
                new ObjectSubject("read-document-rackcall", documents::readShared, bytes, 1),
                new ObjectSubject("read-document-jackson", documents::readJson, length, 1),
                new ObjectSubject("read-document-heap", documents::readHeap, 0, 1),
                new ObjectSubject("copy-document-rackcall", documents::copyShared, bytes, 1)));
        subjects.addAll(DocumentPeers.of(documents.source, DocumentSubjects::sum));
        return subjects;
    }

    private static Map<String, Object> source() {
        Map<String, Object> document = new LinkedHashMap<>();
        document.put("str1", "mzxw6ytboi2gk");
        document.put("str2", "mzxw6ytboi2gk nbswy3dpeb3w6");
        document.put("num", 48_123L);
        document.put("bool", true);
        document.put("dyn1", 7_001L);
        document.put("dyn2", "ovxgs5dfmq5ho");
        Map<String, Object> nested = new LinkedHashMap<>();
        nested.put("str", "nbswy3dpeb3w6");
        nested.put("num", 1_234L);
        document.put("nested_obj", nested);
        document.put("nested_arr", new ArrayList<>(List.of("alpha 17", "delta 4711", "omega 99")));
        document.put("thousandth", 123L);
        for (int i = 0; i < SPARSE; i++) {
            document.put("sparse_" + (100 + i), "gezdgnbvgy3t" + (char) ('a' + i));
        }
        return document;
    }

    // ---- shared objects

    private long writeShared() {
        // The names stay in the other scope, as they do while a batch is written.
        written.reset();
        return SharedObject.refOf(write(written));
    }

    private Field write(Scope scope) {
        Field.TYPE.create(scope, writtenRoot);
        bytes += Field.TYPE.bytes();
        write(scope, source, writtenRoot, 0);
        return writtenRoot;
    }

    /** Writes a value, and its children by the flyweights of its depth. */
    private void write(Scope scope, Object value, Field into, int depth) {
        switch (value) {
            case String string -> {
                SharedString.create(scope, string, made);
                bytes += (SharedString.TYPE.bytes() + made.length() + 7) & -8;
                into.kind(Field.Kind.TEXT).text(SharedObject.toRef(made));
            }
            case Long number -> into.kind(Field.Kind.NUMBER).bits(number);
            case Boolean truth -> into.kind(Field.Kind.TRUTH).bits(truth ? 1 : 0);
            case Map<?, ?> members -> {
                SharedInlineArray<Field> children = children(scope, members.size(), depth);
                int i = 0;
                for (Map.Entry<?, ?> member : members.entrySet()) {
                    Field child = writers[depth];
                    children.get(i++, child);
                    write(scope, member.getValue(), child, depth + 1);
                    child.name(name((String) member.getKey()));
                }
                into.kind(Field.Kind.OBJECT).children(SharedObject.toRef(children));
            }
            case List<?> elements -> {
                SharedInlineArray<Field> children = children(scope, elements.size(), depth);
                for (int i = 0; i < elements.size(); i++) {
                    Field child = writers[depth];
                    children.get(i, child);
                    write(scope, elements.get(i), child, depth + 1);
                }
                into.kind(Field.Kind.ARRAY).children(SharedObject.toRef(children));
            }
            default -> throw new IllegalArgumentException("a document has no " + value.getClass());
        }
    }

    private SharedInlineArray<Field> children(Scope scope, int size, int depth) {
        SharedInlineArray<Field> children = writtenArrays.get(depth);
        SharedInlineArray.create(scope, size, children);
        bytes += Field.CHILDREN.bytes() + (long) (Field.TYPE.bytes() - Long.BYTES) * size;
        return children;
    }

    private Ref<SharedString> name(String name) {
        Ref<SharedString> known = names.get(name);
        if (known == null) {
            known = SharedObject.toRef(SharedString.create(read, name));
            names.put(name, known);
        }
        return known;
    }

    /** Bytes of one document without its names. */
    private long measureBytes() {
        bytes = 0;
        writeShared();
        return bytes;
    }

    private long readShared() {
        return sum(root, 0);
    }

    /** Copies the document with its names, as it is copied into another arena. */
    private long copyShared() {
        written.reset();
        return SharedObject.refOf(DeepCopy.DEFAULT.copy(root, written));
    }

    private long sum(Field value, int depth) {
        return switch (value.kind()) {
            case NUMBER, TRUTH -> value.bits();
            case TEXT -> {
                value.text(text);
                yield text.length() + text.byteAt(0);
            }
            case OBJECT, ARRAY -> {
                SharedInlineArray<Field> children = arrays.get(depth);
                value.children(children);
                long sum = 0;
                for (int i = 0; i < children.length(); i++) {
                    Field child = values[depth];
                    children.get(i, child);
                    if (child.name(text)) {
                        sum += text.length();
                    }
                    sum += sum(child, depth + 1);
                }
                yield sum;
            }
        };
    }

    // ---- JSON

    private long writeJson() {
        return mapper.writeValueAsBytes(source).length;
    }

    private long readJson() {
        return sum(mapper.readTree(json));
    }

    private static long sum(JsonNode node) {
        if (node.isString()) {
            String value = node.stringValue();
            return (long) value.length() + value.charAt(0);
        }
        if (node.isNumber()) {
            return node.longValue();
        }
        if (node.isBoolean()) {
            return node.booleanValue() ? 1 : 0;
        }
        long sum = 0;
        if (node.isObject()) {
            for (Map.Entry<String, JsonNode> member : node.properties()) {
                sum += member.getKey().length() + sum(member.getValue());
            }
        } else {
            for (JsonNode element : node) {
                sum += sum(element);
            }
        }
        return sum;
    }

    // ---- plain objects

    private long writeHeap() {
        return ((Map<?, ?>) copy(source)).size();
    }

    /** A deep copy, as a program makes it that keeps a document. */
    private static Object copy(Object value) {
        return switch (value) {
            case Map<?, ?> members -> {
                Map<String, Object> copies = new LinkedHashMap<>();
                members.forEach((name, member) -> copies.put((String) name, copy(member)));
                yield copies;
            }
            case List<?> elements ->
                elements.stream().map(DocumentSubjects::copy).toList();
            default -> value;
        };
    }

    private long readHeap() {
        return sum(source);
    }

    private static long sum(Object value) {
        return switch (value) {
            case String string -> string.length() + string.charAt(0);
            case Long number -> number;
            case Boolean truth -> truth ? 1 : 0;
            case Map<?, ?> members -> {
                long sum = 0;
                for (Map.Entry<?, ?> member : members.entrySet()) {
                    sum += ((String) member.getKey()).length() + sum(member.getValue());
                }
                yield sum;
            }
            case List<?> elements -> {
                long sum = 0;
                for (Object element : elements) {
                    sum += sum(element);
                }
                yield sum;
            }
            default -> throw new IllegalArgumentException("a document has no " + value.getClass());
        };
    }
}
