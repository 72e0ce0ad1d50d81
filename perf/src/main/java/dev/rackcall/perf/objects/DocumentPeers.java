package dev.rackcall.perf.objects;

import com.esotericsoftware.kryo.Kryo;
import com.esotericsoftware.kryo.io.Input;
import com.esotericsoftware.kryo.io.Output;
import com.google.flatbuffers.ArrayReadWriteBuf;
import com.google.flatbuffers.FlexBuffers;
import com.google.flatbuffers.FlexBuffersBuilder;
import com.google.flatbuffers.ReadBuf;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.ListValue;
import com.google.protobuf.Struct;
import com.google.protobuf.Value;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToLongFunction;

/**
 * Writes and reads the document of {@link DocumentSubjects} by other formats for documents without a schema: protobuf's
 * {@code Struct}, FlexBuffers, which are read in place as FlatBuffers are, and Kryo.
 */
final class DocumentPeers {
    private static final int KRYO_BYTES = 4096;

    private final Map<String, Object> source;
    private final ToLongFunction<Object> sum;
    private final byte[] struct;
    private final FlexBuffersBuilder flex = new FlexBuffersBuilder();
    private final ReadBuf flexBytes;
    private final Kryo kryo = new Kryo();
    private final Output output = new Output(KRYO_BYTES);
    private final Input input;

    /** @param sum of all values in a tree of plain objects */
    private DocumentPeers(Map<String, Object> source, ToLongFunction<Object> sum) {
        this.source = source;
        this.sum = sum;
        struct = struct(source).toByteArray();
        writeFlex();
        flexBytes = copyOf(flex.finish());
        kryo.register(LinkedHashMap.class);
        kryo.register(ArrayList.class);
        writeKryo();
        input = new Input(output.toBytes());
    }

    static List<ObjectSubject> of(Map<String, Object> source, ToLongFunction<Object> sum) {
        DocumentPeers peers = new DocumentPeers(source, sum);
        int flexLength = peers.flexBytes.limit();
        int kryoLength = peers.input.limit();
        return List.of(
                new ObjectSubject("write-document-protobuf", peers::writeStruct, peers.struct.length, 1),
                new ObjectSubject("write-document-flexbuffers", peers::writeAndFinishFlex, flexLength, 1),
                new ObjectSubject("write-document-kryo", peers::writeKryo, kryoLength, 1),
                new ObjectSubject("read-document-protobuf", peers::readStruct, peers.struct.length, 1),
                new ObjectSubject("read-document-flexbuffers", peers::readFlex, flexLength, 1),
                new ObjectSubject("read-document-kryo", peers::readKryo, kryoLength, 1));
    }

    private static ReadBuf copyOf(ByteBuffer bytes) {
        byte[] copy = new byte[bytes.remaining()];
        bytes.get(copy);
        return new ArrayReadWriteBuf(copy, copy.length);
    }

    // ---- protobuf

    private long writeStruct() {
        return struct(source).toByteArray().length;
    }

    private static Struct struct(Map<?, ?> members) {
        Struct.Builder struct = Struct.newBuilder();
        members.forEach((name, member) -> struct.putFields((String) name, value(member)));
        return struct.build();
    }

    private static Value value(Object value) {
        Value.Builder built = Value.newBuilder();
        return switch (value) {
            case String string -> built.setStringValue(string).build();
            case Long number -> built.setNumberValue(number).build();
            case Boolean truth -> built.setBoolValue(truth).build();
            case Map<?, ?> members -> built.setStructValue(struct(members)).build();
            case List<?> elements -> {
                ListValue.Builder list = ListValue.newBuilder();
                elements.forEach(element -> list.addValues(value(element)));
                yield built.setListValue(list).build();
            }
            default -> throw unknown(value);
        };
    }

    private long readStruct() {
        try {
            return sum(Struct.parseFrom(struct));
        } catch (InvalidProtocolBufferException e) {
            throw new IllegalStateException("protobuf cannot read what it wrote", e);
        }
    }

    private static long sum(Struct members) {
        long sum = 0;
        for (Map.Entry<String, Value> member : members.getFieldsMap().entrySet()) {
            sum += member.getKey().length() + sum(member.getValue());
        }
        return sum;
    }

    private static long sum(Value value) {
        return switch (value.getKindCase()) {
            case STRING_VALUE ->
                (long) value.getStringValue().length() + value.getStringValue().charAt(0);
            case NUMBER_VALUE -> (long) value.getNumberValue();
            case BOOL_VALUE -> value.getBoolValue() ? 1 : 0;
            case STRUCT_VALUE -> sum(value.getStructValue());
            case LIST_VALUE -> {
                long sum = 0;
                for (Value element : value.getListValue().getValuesList()) {
                    sum += sum(element);
                }
                yield sum;
            }
            default -> throw unknown(value.getKindCase());
        };
    }

    // ---- FlexBuffers

    private long writeAndFinishFlex() {
        writeFlex();
        return flex.finish().remaining();
    }

    private void writeFlex() {
        flex.clear();
        putMap(null, source);
    }

    private void putMap(String name, Map<?, ?> members) {
        int start = flex.startMap();
        members.forEach((key, member) -> put((String) key, member));
        flex.endMap(name, start);
    }

    /** @param name null for the elements of an array */
    private void put(String name, Object value) {
        switch (value) {
            case String string -> flex.putString(name, string);
            case Long number -> flex.putInt(name, number);
            case Boolean truth -> flex.putBoolean(name, truth);
            case Map<?, ?> members -> putMap(name, members);
            case List<?> elements -> {
                int start = flex.startVector();
                elements.forEach(element -> put(null, element));
                flex.endVector(name, start, false, false);
            }
            default -> throw unknown(value);
        }
    }

    private long readFlex() {
        return sum(FlexBuffers.getRoot(flexBytes));
    }

    private static long sum(FlexBuffers.Reference value) {
        if (value.isString()) {
            String text = value.asString();
            return (long) text.length() + text.charAt(0);
        }
        if (value.isBoolean()) {
            return value.asBoolean() ? 1 : 0;
        }
        if (value.isInt()) {
            return value.asLong();
        }
        long sum = 0;
        if (value.isMap()) {
            FlexBuffers.Map members = value.asMap();
            for (int i = 0; i < members.size(); i++) {
                sum += members.keys().get(i).toString().length() + sum(members.get(i));
            }
        } else {
            FlexBuffers.Vector elements = value.asVector();
            for (int i = 0; i < elements.size(); i++) {
                sum += sum(elements.get(i));
            }
        }
        return sum;
    }

    // ---- Kryo

    private long writeKryo() {
        output.setPosition(0);
        kryo.writeClassAndObject(output, source);
        return output.position();
    }

    private long readKryo() {
        input.setPosition(0);
        return sum.applyAsLong(kryo.readClassAndObject(input));
    }

    private static IllegalArgumentException unknown(Object what) {
        return new IllegalArgumentException("a document has no " + what);
    }
}
