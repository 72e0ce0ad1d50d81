package dev.rackcall.processor;

import com.palantir.javapoet.ArrayTypeName;
import com.palantir.javapoet.ClassName;
import com.palantir.javapoet.CodeBlock;
import com.palantir.javapoet.MethodSpec;
import com.palantir.javapoet.NameAllocator;
import com.palantir.javapoet.ParameterizedTypeName;
import com.palantir.javapoet.TypeName;
import dev.rackcall.processor.CodecWriter.Place;
import dev.rackcall.processor.CodecWriter.Side;
import dev.rackcall.processor.Value.Component;
import dev.rackcall.processor.Value.Composite;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Optional;

/** Writes the bodies of the methods that encode and decode values with parts. */
final class HelperWriter {
    private static final CodeBlock NAME = CodeBlock.of("name");

    private final CodecWriter codec;

    HelperWriter(CodecWriter codec) {
        this.codec = codec;
    }

    /** {@code (PayloadWriter out, [ClientCall call,] T value, String name)}. */
    void write(MethodSpec.Builder method, Value.Compound value, Side side, boolean shared) {
        method.addParameter(RpcNames.PAYLOAD_WRITER, "out");
        if (shared) {
            method.addParameter(CodecWriter.callType(side), "call");
        }
        method.addParameter(value.type(), "value").addParameter(String.class, "name");
        Place place = new Place(side, "out", "call");
        switch (value) {
            case Value.Elements elements -> writeElements(method, elements, place);
            case Value.ObjectArray array -> writeArray(method, array, place);
            case Value.Mapping mapping -> writeMapping(method, mapping, place);
            case Value.Maybe maybe -> writeMaybe(method, maybe, place);
            case Value.OneOf oneOf -> writeOneOf(method, oneOf, place);
            case Composite composite -> writeComposite(method, composite, place);
        }
    }

    private void writeElements(MethodSpec.Builder method, Value.Elements elements, Place place) {
        method.addStatement("$T.required(value, name)", RpcNames.PAYLOAD_WRITER)
                .addStatement("long at = out.reserveCount()")
                .addStatement("int count = 0")
                .beginControlFlow("for ($T element : value)", elements.element().type())
                .addStatement(writePart(elements.element(), CodeBlock.of("element"), "an element", place))
                .addStatement("count++")
                .endControlFlow()
                .addStatement("out.setCount(at, count)");
    }

    private void writeArray(MethodSpec.Builder method, Value.ObjectArray array, Place place) {
        method.addStatement("out.writeCount($T.required(value, name).length)", RpcNames.PAYLOAD_WRITER)
                .beginControlFlow("for ($T element : value)", array.element().type())
                .addStatement(writePart(array.element(), CodeBlock.of("element"), "an element", place))
                .endControlFlow();
    }

    private void writeMapping(MethodSpec.Builder method, Value.Mapping mapping, Place place) {
        TypeName entry = ParameterizedTypeName.get(
                ClassName.get(Map.Entry.class),
                mapping.key().type(),
                mapping.value().type());
        method.addStatement("$T.required(value, name)", RpcNames.PAYLOAD_WRITER)
                .addStatement("long at = out.reserveCount()")
                .addStatement("int count = 0")
                .beginControlFlow("for ($T entry : value.entrySet())", entry)
                .addStatement(writePart(mapping.key(), CodeBlock.of("entry.getKey()"), "a key", place))
                .addStatement(writePart(mapping.value(), CodeBlock.of("entry.getValue()"), "a value", place))
                .addStatement("count++")
                .endControlFlow()
                .addStatement("out.setCount(at, count)");
    }

    private void writeMaybe(MethodSpec.Builder method, Value.Maybe maybe, Place place) {
        method.addStatement("out.writeBoolean($T.required(value, name).isPresent())", RpcNames.PAYLOAD_WRITER)
                .beginControlFlow("if (value.isPresent())")
                .addStatement(codec.writePresent(maybe.element(), CodeBlock.of("value.get()"), NAME, place))
                .endControlFlow();
    }

    private void writeOneOf(MethodSpec.Builder method, Value.OneOf oneOf, Place place) {
        method.beginControlFlow("switch ($T.required(value, name))", RpcNames.PAYLOAD_WRITER);
        for (int i = 0; i < oneOf.cases().size(); i++) {
            Value each = oneOf.cases().get(i);
            method.beginControlFlow("case $T one ->", each.type())
                    .addStatement("out.writeInt($L)", i)
                    .addStatement(codec.writePresent(each, CodeBlock.of("one"), NAME, place))
                    .endControlFlow();
        }
        method.endControlFlow();
    }

    private void readOneOf(MethodSpec.Builder method, Value.OneOf oneOf, Place place) {
        method.addStatement("int one = in.readInt()").addCode("return switch (one) {$>\n");
        for (int i = 0; i < oneOf.cases().size(); i++) {
            method.addCode("case $L -> $L;\n", i, codec.read(oneOf.cases().get(i), NAME, place));
        }
        method.addCode(
                        "default -> throw new $T($S + one + $S);\n",
                        RpcNames.PAYLOAD_EXCEPTION,
                        "number ",
                        " of sealed interface " + TypeText.of(oneOf.type()) + ", which has "
                                + oneOf.cases().size() + " cases")
                .addCode("$<};\n");
    }

    private void writeComposite(MethodSpec.Builder method, Composite composite, Place place) {
        String type = TypeText.of(composite.type());
        method.addStatement("$T.required(value, name)", RpcNames.PAYLOAD_WRITER);
        if (composite.components().isEmpty()) {
            method.addComment("One byte, so that a count of these is bounded by the bytes that remain")
                    .addStatement("out.writeByte((byte) 0)");
        }
        boolean recursive = composite.recursive();
        if (recursive) {
            method.addStatement("out.enter($S)", type);
        }
        for (Component component : composite.components()) {
            method.addStatement(codec.write(
                    component.value(),
                    CodeBlock.of("value.$L()", component.name()),
                    CodeBlock.of("$S", type + "." + component.name()),
                    place));
        }
        if (recursive) {
            method.addStatement("out.leave()");
        }
    }

    private CodeBlock writePart(Value part, CodeBlock expression, String role, Place place) {
        return codec.writePresent(
                part,
                CodeBlock.of("$T.requiredIn($L, $S, name)", RpcNames.PAYLOAD_WRITER, expression, role),
                NAME,
                place);
    }

    /** {@code T (PayloadReader in, [ClientCall call] | [ServerCall call, [String name]])}. */
    void read(MethodSpec.Builder method, Value.Compound value, Side side, boolean shared) {
        NameAllocator names = new NameAllocator();
        if (value instanceof Composite composite) {
            composite.components().forEach(component -> names.newName(component.name(), component));
        }
        Place place = new Place(side, names.newName("in"), names.newName("call"));
        method.returns(value.type()).addParameter(RpcNames.PAYLOAD_READER, place.payload());
        if (shared) {
            method.addParameter(CodecWriter.callType(side), place.call());
            if (CodecWriter.namesShared(value, side)) {
                method.addParameter(String.class, "name");
            }
        }
        switch (value) {
            case Value.Elements elements -> readElements(method, elements, place);
            case Value.ObjectArray array -> readArray(method, array, place);
            case Value.Mapping mapping -> readMapping(method, mapping, place);
            case Value.Maybe maybe ->
                method.addStatement(
                        "return in.readBoolean() ? $T.of($L) : $T.empty()",
                        Optional.class,
                        codec.read(maybe.element(), NAME, place),
                        Optional.class);
            case Value.OneOf oneOf -> readOneOf(method, oneOf, place);
            case Composite composite -> readComposite(method, composite, place, names);
        }
    }

    private void readElements(MethodSpec.Builder method, Value.Elements elements, Place place) {
        method.addStatement("int count = in.readCount($L)", elements.element().minBytes());
        if (elements.set()) {
            method.addStatement("$T value = $T.newLinkedHashSet(count)", elements.type(), LinkedHashSet.class);
        } else {
            method.addStatement("$T value = new $T<>(count)", elements.type(), ArrayList.class);
        }
        method.beginControlFlow("for (int i = 0; i < count; i++)")
                .addStatement(
                        elements.set() ? "in.add(value, $L)" : "value.add($L)",
                        codec.read(elements.element(), NAME, place))
                .endControlFlow()
                .addStatement("return value");
    }

    private void readArray(MethodSpec.Builder method, Value.ObjectArray array, Place place) {
        method.addStatement("int count = in.readCount($L)", array.element().minBytes())
                .addStatement(
                        "$T value = $L", array.type(), newArray(array.element().type()))
                .beginControlFlow("for (int i = 0; i < count; i++)")
                .addStatement("value[i] = $L", codec.read(array.element(), NAME, place))
                .endControlFlow()
                .addStatement("return value");
    }

    /** {@code new String[count]}; for an array of arrays the count comes first: {@code new int[count][]}. */
    private static CodeBlock newArray(TypeName element) {
        StringBuilder inner = new StringBuilder();
        TypeName component = element;
        while (component instanceof ArrayTypeName array) {
            inner.append("[]");
            component = array.componentType();
        }
        return CodeBlock.of("new $T[count]$L", component, inner);
    }

    private void readMapping(MethodSpec.Builder method, Value.Mapping mapping, Place place) {
        method.addStatement(
                        "int count = in.readCount($L)",
                        mapping.key().minBytes() + mapping.value().minBytes())
                .addStatement("$T value = $T.newLinkedHashMap(count)", mapping.type(), LinkedHashMap.class)
                .beginControlFlow("for (int i = 0; i < count; i++)")
                .addStatement("$T key = $L", mapping.key().type(), codec.read(mapping.key(), NAME, place))
                .addStatement("in.put(value, key, $L)", codec.read(mapping.value(), NAME, place))
                .endControlFlow()
                .addStatement("return value");
    }

    private void readComposite(MethodSpec.Builder method, Composite composite, Place place, NameAllocator names) {
        String type = TypeText.of(composite.type());
        String in = place.payload();
        if (composite.components().isEmpty()) {
            method.addStatement("$L.readByte()", in);
        }
        boolean recursive = composite.recursive();
        if (recursive) {
            method.addStatement("$L.enter($S)", in, type);
        }
        for (Component component : composite.components()) {
            method.addStatement(
                    "$T $L = $L",
                    component.value().type(),
                    names.get(component),
                    codec.read(component.value(), CodeBlock.of("$S", type + "." + component.name()), place));
        }
        if (recursive) {
            method.addStatement("$L.leave()", in);
        }
        CodeBlock arguments = composite.components().stream()
                .map(component -> CodeBlock.of("$L", names.get(component)))
                .collect(CodeBlock.joining(", "));
        String exception = names.newName("e");
        method.beginControlFlow("try")
                .addStatement("return new $T($L)", composite.type(), arguments)
                .nextControlFlow("catch ($T $L)", RuntimeException.class, exception)
                .addStatement(
                        "throw new $T($S + $L, $L)",
                        RpcNames.PAYLOAD_EXCEPTION,
                        "record " + type + " refuses its components: ",
                        exception,
                        exception)
                .endControlFlow();
    }
}
