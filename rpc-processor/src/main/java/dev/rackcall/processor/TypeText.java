package dev.rackcall.processor;

import com.palantir.javapoet.ArrayTypeName;
import com.palantir.javapoet.ClassName;
import com.palantir.javapoet.ParameterizedTypeName;
import com.palantir.javapoet.TypeName;
import java.util.stream.Collectors;

/** Type names for people and for identifiers. */
final class TypeText {
    private TypeText() {}

    /** {@code Map<String, Outer.Inner>}. */
    static String of(TypeName type) {
        return switch (type) {
            case ArrayTypeName array -> of(array.componentType()) + "[]";
            case ParameterizedTypeName generic ->
                of(generic.rawType())
                        + generic.typeArguments().stream()
                                .map(TypeText::of)
                                .collect(Collectors.joining(", ", "<", ">"));
            case ClassName name -> String.join(".", name.simpleNames());
            default -> type.toString();
        };
    }

    /** {@code MapOfStringToOuterInner}, to go into an identifier. */
    static String identifier(TypeName type) {
        return switch (type) {
            case ArrayTypeName array -> "ArrayOf" + identifier(array.componentType());
            case ParameterizedTypeName generic ->
                identifier(generic.rawType()) + "Of"
                        + generic.typeArguments().stream()
                                .map(TypeText::identifier)
                                .collect(Collectors.joining("To"));
            case ClassName name -> String.join("", name.simpleNames());
            default ->
                Character.toUpperCase(type.toString().charAt(0))
                        + type.toString().substring(1);
        };
    }
}
