package dev.rackcall.processor;

import com.palantir.javapoet.ClassName;
import java.util.Optional;
import java.util.Set;
import javax.lang.model.element.AnnotationMirror;
import javax.lang.model.element.AnnotationValue;
import javax.lang.model.element.Element;
import javax.lang.model.element.ElementKind;
import javax.lang.model.element.ExecutableElement;
import javax.lang.model.element.PackageElement;
import javax.lang.model.element.TypeElement;
import javax.lang.model.type.DeclaredType;
import javax.lang.model.type.TypeMirror;

/** Queries on declarations. */
final class Declarations {
    private static final Set<String> OBJECT_METHODS = Set.of("toString()", "hashCode()", "equals(java.lang.Object)");

    private Declarations() {}

    /**
     * Whether {@code Object} declares this method, also if an interface redeclares it. A generated class inherits it.
     */
    static boolean isOfObject(ExecutableElement method) {
        TypeElement declaring = (TypeElement) method.getEnclosingElement();
        return declaring.getQualifiedName().contentEquals("java.lang.Object")
                || OBJECT_METHODS.contains(method.toString());
    }

    static Optional<AnnotationMirror> annotation(Element element, String qualifiedName) {
        for (AnnotationMirror mirror : element.getAnnotationMirrors()) {
            TypeElement type = (TypeElement) mirror.getAnnotationType().asElement();
            if (type.getQualifiedName().contentEquals(qualifiedName)) {
                return Optional.of(mirror);
            }
        }
        return Optional.empty();
    }

    static boolean has(Element element, String annotation) {
        return annotation(element, annotation).isPresent();
    }

    /** The {@code int value()} of an annotation that has no other member and no default. */
    static int intValue(AnnotationMirror annotation) {
        for (AnnotationValue value : annotation.getElementValues().values()) {
            if (value.getValue() instanceof Integer number) {
                return number;
            }
        }
        return 0;
    }

    /** The {@code String value()} of an annotation; empty if it is not written. */
    static String textValue(AnnotationMirror annotation) {
        return annotation.getElementValues().values().stream()
                .map(value -> value.getValue().toString())
                .findFirst()
                .orElse("");
    }

    /** The declaration of a class or interface type; empty for primitives, arrays and types that do not resolve. */
    static Optional<TypeElement> declaration(TypeMirror type) {
        return type instanceof DeclaredType declared && declared.asElement() instanceof TypeElement element
                ? Optional.of(element)
                : Optional.empty();
    }

    static boolean isShared(TypeElement type) {
        return type.getKind() == ElementKind.INTERFACE && has(type, SharedNames.SHARED);
    }

    /** {@code <Name>_Shared} beside the interface; {@code Outer_Inner_Shared} for a nested one. */
    static ClassName flyweight(TypeElement sharedInterface) {
        StringBuilder name = new StringBuilder("_Shared");
        Element element = sharedInterface;
        while (!(element instanceof PackageElement)) {
            name.insert(0, element.equals(sharedInterface) ? element.getSimpleName() : element.getSimpleName() + "_");
            element = element.getEnclosingElement();
        }
        return ClassName.get(((PackageElement) element).getQualifiedName().toString(), name.toString());
    }

    /** {@code Document.title}, the way that messages name a member. */
    static String name(ExecutableElement method) {
        return method.getEnclosingElement().getSimpleName() + "." + method.getSimpleName();
    }
}
