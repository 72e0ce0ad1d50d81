package dev.rackcall.processor;

import com.palantir.javapoet.ArrayTypeName;
import com.palantir.javapoet.ClassName;
import com.palantir.javapoet.CodeBlock;
import com.palantir.javapoet.FieldSpec;
import com.palantir.javapoet.MethodSpec;
import com.palantir.javapoet.NameAllocator;
import com.palantir.javapoet.TypeName;
import dev.rackcall.processor.Value.Composite;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import javax.lang.model.element.Modifier;

/**
 * Writes the code that encodes and decodes values. A simple value becomes a call of the codec. A collection, array,
 * Optional or record becomes a call of a private static method, which the generated class has once per type and
 * direction.
 */
final class CodecWriter {
    /** The end at which the code runs; a different object converts shared objects and Refs at each end. */
    enum Side {
        CLIENT(RpcNames.CLIENT_CALL),
        SERVER(RpcNames.SERVER_CALL);

        private final ClassName call;

        Side(ClassName call) {
            this.call = call;
        }
    }

    /** The context of generated code: the end, and the names of the payload and the call. */
    record Place(Side side, String payload, String call) {}

    private enum Direction {
        WRITE,
        READ
    }

    /** A helper method; the side matters only if it handles Refs. */
    private record HelperKey(TypeName type, Direction direction, Side side) {}

    private final NameAllocator names;
    private final Map<HelperKey, String> helperNames = new LinkedHashMap<>();
    private final Map<TypeName, FieldSpec> enumConstants = new LinkedHashMap<>();
    private final List<MethodSpec> helpers = new ArrayList<>();
    private final HelperWriter helperWriter = new HelperWriter(this);

    /** @param names members of the generated class; new ones are added */
    CodecWriter(NameAllocator names) {
        this.names = names;
    }

    /** The helper methods of the code written so far. */
    List<MethodSpec> helpers() {
        return helpers;
    }

    /** The constants of the code written so far. */
    List<FieldSpec> constants() {
        return List.copyOf(enumConstants.values());
    }

    /**
     * A statement that encodes {@code expression}.
     *
     * @param name an expression for the value's name in messages
     */
    CodeBlock write(Value value, CodeBlock expression, CodeBlock name, Place place) {
        boolean refusesNull = !(value instanceof Value.Scalar scalar && scalar.boxed())
                && !(value instanceof Value.Shared && place.side() == Side.SERVER);
        CodeBlock present = refusesNull
                ? expression
                : CodeBlock.of("$T.required($L, $L)", RpcNames.PAYLOAD_WRITER, expression, name);
        return writePresent(value, present, name, place);
    }

    /** As {@link #write}, for an expression that is never null. */
    CodeBlock writePresent(Value value, CodeBlock expression, CodeBlock name, Place place) {
        String out = place.payload();
        return switch (value) {
            case Value.Scalar scalar -> CodeBlock.of("$L.write$L($L)", out, scalar.accessor(), expression);
            case Value.Direct direct -> CodeBlock.of("$L.write$L($L, $L)", out, direct.accessor(), expression, name);
            case Value.Beside beside ->
                CodeBlock.of("$T.write$L($L, $L, $L)", beside.codec(), beside.accessor(), out, expression, name);
            case Value.Enumeration enumeration -> CodeBlock.of("$L.writeEnum($L, $L)", out, expression, name);
            case Value.Registered registered -> CodeBlock.of("$L.writeObject($L, $L)", out, expression, name);
            case Value.Shared shared ->
                place.side() == Side.CLIENT
                        ? CodeBlock.of("$L.writeRef($L.share($L, $L))", out, place.call(), expression, name)
                        : CodeBlock.of("$L.writeRef($L.share($L))", out, place.call(), expression);
            case Value.Adapted adapted ->
                CodeBlock.of("$T.write($L, $L, $L, $L)", adapted.codec(), out, place.call(), expression, name);
            case Value.Compound compound -> callWrite(compound, expression, name, place);
        };
    }

    private CodeBlock callWrite(Value.Compound value, CodeBlock expression, CodeBlock name, Place place) {
        return CodeBlock.of(
                "$L($L$L, $L, $L)",
                helper(value, Direction.WRITE, place.side()),
                place.payload(),
                value.mentionsShared() ? ", " + place.call() : "",
                expression,
                name);
    }

    /**
     * An expression that decodes a value.
     *
     * @param name an expression for the value's name in messages
     */
    CodeBlock read(Value value, CodeBlock name, Place place) {
        String in = place.payload();
        return switch (value) {
            case Value.Scalar scalar -> CodeBlock.of("$L.read$L()", in, scalar.accessor());
            case Value.Direct direct -> CodeBlock.of("$L.read$L()", in, direct.accessor());
            case Value.Beside beside -> CodeBlock.of("$T.read$L($L)", beside.codec(), beside.accessor(), in);
            case Value.Enumeration enumeration -> CodeBlock.of("$L.readEnum($L)", in, constants(enumeration));
            case Value.Registered registered -> CodeBlock.of("$L.readObject($T.class)", in, registered.type());
            case Value.Shared shared ->
                place.side() == Side.CLIENT
                        ? CodeBlock.of("$L.shared($T.class, $L.readRef())", place.call(), shared.type(), in)
                        : CodeBlock.of("$L.shared($T.class, $L.readRef(), $L)", place.call(), shared.type(), in, name);
            case Value.Adapted adapted ->
                place.side() == Side.CLIENT
                        ? CodeBlock.of("$T.read($L, $L)", adapted.codec(), in, place.call())
                        : CodeBlock.of("$T.read($L, $L, $L)", adapted.codec(), in, place.call(), name);
            case Value.Compound compound -> callRead(compound, name, place);
        };
    }

    private CodeBlock callRead(Value.Compound value, CodeBlock name, Place place) {
        String helper = helper(value, Direction.READ, place.side());
        if (!value.mentionsShared()) {
            return CodeBlock.of("$L($L)", helper, place.payload());
        }
        return !namesShared(value, place.side())
                ? CodeBlock.of("$L($L, $L)", helper, place.payload(), place.call())
                : CodeBlock.of("$L($L, $L, $L)", helper, place.payload(), place.call(), name);
    }

    /**
     * Whether the helper that decodes this value needs a name: a server's messages about Refs name the argument.
     * Components of a record have their own names.
     */
    static boolean namesShared(Value value, Side side) {
        return side == Side.SERVER && holdsShared(value);
    }

    private static boolean holdsShared(Value value) {
        return value.isPassedByRef()
                || (!(value instanceof Composite) && value.parts().stream().anyMatch(CodecWriter::holdsShared));
    }

    private String constants(Value.Enumeration enumeration) {
        return enumConstants
                .computeIfAbsent(enumeration.type(), type -> {
                    String name = names.newName(Sources.constantName(TypeText.identifier(type)) + "_VALUES");
                    return Sources.constant(ArrayTypeName.of(type), name, CodeBlock.of("$T.values()", type));
                })
                .name();
    }

    private String helper(Value.Compound value, Direction direction, Side side) {
        boolean shared = value.mentionsShared();
        HelperKey key = new HelperKey(value.type(), direction, shared ? side : Side.CLIENT);
        String known = helperNames.get(key);
        if (known != null) {
            return known;
        }
        String verb = direction.name().toLowerCase(Locale.ROOT);
        String name = names.newName(verb + TypeText.identifier(value.type()));
        helperNames.put(key, name);
        MethodSpec.Builder method = MethodSpec.methodBuilder(name).addModifiers(Modifier.PRIVATE, Modifier.STATIC);
        if (direction == Direction.WRITE) {
            helperWriter.write(method, value, side, shared);
        } else {
            helperWriter.read(method, value, side, shared);
        }
        helpers.add(method.build());
        return name;
    }

    static ClassName callType(Side side) {
        return side.call;
    }
}
