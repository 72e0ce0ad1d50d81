package dev.rackcall.processor;

import com.palantir.javapoet.ClassName;
import com.palantir.javapoet.CodeBlock;
import com.palantir.javapoet.ParameterizedTypeName;
import com.palantir.javapoet.TypeName;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;
import javax.lang.model.element.Element;
import javax.lang.model.element.ExecutableElement;
import javax.lang.model.element.Modifier;
import javax.lang.model.element.TypeElement;
import javax.lang.model.type.DeclaredType;
import javax.lang.model.type.TypeMirror;

/**
 * The target of a reference: a shared interface or a container of the run time.
 *
 * @param java the type in Java source
 * @param name the type's name at run time; part of layout descriptions
 * @param type an expression for its {@code SharedType}
 * @param composite whether the expression builds a new {@code SharedType}, which a constant then keeps
 * @param mentions the shared interfaces that it names
 */
public record Target(TypeName java, String name, CodeBlock type, boolean composite, List<TypeElement> mentions) {
    private static final Map<String, Integer> ARRAY_ELEMENT_BYTES = Map.of(
            SharedNames.SHARED_BYTES.simpleName(), 1,
            SharedNames.SHARED_INT_ARRAY.simpleName(), 4,
            SharedNames.SHARED_FLOAT_ARRAY.simpleName(), 4,
            SharedNames.SHARED_LONG_ARRAY.simpleName(), 8,
            SharedNames.SHARED_DOUBLE_ARRAY.simpleName(), 8,
            SharedNames.SHARED_ARRAY.simpleName(), 8);

    private static final List<ClassName> PLAIN = List.of(
            SharedNames.SHARED_STRING,
            SharedNames.SHARED_BYTES,
            SharedNames.SHARED_INT_ARRAY,
            SharedNames.SHARED_LONG_ARRAY,
            SharedNames.SHARED_FLOAT_ARRAY,
            SharedNames.SHARED_DOUBLE_ARRAY,
            SharedNames.SHARED_INT_LIST,
            SharedNames.SHARED_LONG_LIST,
            SharedNames.SHARED_DOUBLE_LIST);

    private static final List<ClassName> OF_ELEMENTS = List.of(
            SharedNames.SHARED_ARRAY,
            SharedNames.SHARED_INLINE_ARRAY,
            SharedNames.SHARED_LIST,
            SharedNames.SHARED_STRING_MAP,
            SharedNames.SHARED_LONG_MAP);

    /** The target that a Java type denotes; empty if references to it are impossible. */
    static Optional<Target> of(TypeMirror type) {
        return Declarations.declaration(type).flatMap(element -> of(element, (DeclaredType) type));
    }

    private static Optional<Target> of(TypeElement element, DeclaredType type) {
        if (Declarations.isShared(element)) {
            return Optional.of(shared(element));
        }
        String qualifiedName = element.getQualifiedName().toString();
        for (ClassName plain : PLAIN) {
            if (plain.canonicalName().equals(qualifiedName)) {
                return Optional.of(named(plain));
            }
        }
        for (ClassName container : OF_ELEMENTS) {
            if (container.canonicalName().equals(qualifiedName)
                    && type.getTypeArguments().size() == 1) {
                TypeMirror elements = type.getTypeArguments().get(0);
                return container == SharedNames.SHARED_INLINE_ARRAY && !canLieInline(elements)
                        ? Optional.empty()
                        : of(elements).map(target -> container(container, target));
            }
        }
        return Optional.empty();
    }

    /** Whether an array can hold such objects without headers. Nothing would tell which version they are. */
    private static boolean canLieInline(TypeMirror elements) {
        return Declarations.declaration(elements)
                .filter(element -> Declarations.isShared(element)
                        && hasAny(element, Target::isAccessor)
                        && !hasAny(element, member -> Declarations.has(member, SharedNames.SINCE)))
                .isPresent();
    }

    private static boolean isAccessor(Element member) {
        return member instanceof ExecutableElement method
                && method.getModifiers().contains(Modifier.ABSTRACT)
                && !Declarations.isOfObject(method);
    }

    /** Whether the interface or one that it extends has such a member. */
    private static boolean hasAny(TypeElement sharedInterface, Predicate<Element> wanted) {
        return sharedInterface.getEnclosedElements().stream().anyMatch(wanted)
                || sharedInterface.getInterfaces().stream()
                        .anyMatch(parent -> Declarations.declaration(parent)
                                .filter(element -> hasAny(element, wanted))
                                .isPresent());
    }

    /** A container of the run time without a type argument. */
    static Target named(ClassName plain) {
        return new Target(plain, plain.simpleName(), CodeBlock.of("$T.TYPE", plain), false, List.of());
    }

    private static Target shared(TypeElement element) {
        return new Target(
                ClassName.get(element),
                element.getQualifiedName().toString(),
                CodeBlock.of("$T.TYPE", Declarations.flyweight(element)),
                false,
                List.of(element));
    }

    private static Target container(ClassName container, Target elements) {
        return new Target(
                ParameterizedTypeName.get(container, elements.java()),
                container.simpleName() + "<" + elements.name() + ">",
                CodeBlock.of("$T.typeOf($L)", container, elements.type()),
                true,
                elements.mentions());
    }

    /** Bytes of one element if this array can lie inside a record; otherwise 0. */
    int arrayElementBytes() {
        String container = name.indexOf('<') < 0 ? name : name.substring(0, name.indexOf('<'));
        return ARRAY_ELEMENT_BYTES.getOrDefault(container, 0);
    }
}
