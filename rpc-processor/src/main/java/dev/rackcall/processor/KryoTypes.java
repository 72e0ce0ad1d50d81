package dev.rackcall.processor;

import com.palantir.javapoet.ClassName;
import java.util.List;
import java.util.Set;
import javax.lang.model.element.ElementKind;
import javax.lang.model.element.ExecutableElement;
import javax.lang.model.element.Modifier;
import javax.lang.model.element.TypeElement;
import javax.lang.model.type.TypeMirror;
import javax.lang.model.util.ElementFilter;
import javax.lang.model.util.Elements;
import javax.lang.model.util.Types;

/** Which classes can be registered. Kryo needs the fields of a class, and the JDK's modules hide theirs. */
final class KryoTypes {
    /** Classes of the JDK with a serializer of their own, besides those that travel by themselves. */
    private static final Set<String> WITH_SERIALIZER = Set.of(
            "java.util.Date",
            "java.util.BitSet",
            "java.util.Optional",
            "java.net.URL",
            "java.lang.StringBuilder",
            "java.lang.StringBuffer");

    private KryoTypes() {}

    static boolean isSupported(Types types, Elements elements, TypeElement type) {
        if (isA(types, elements, type, "java.lang.Throwable")) {
            return false;
        }
        return !isOfJdk(elements, type)
                || type.getKind() == ElementKind.ENUM
                || WITH_SERIALIZER.contains(type.getQualifiedName().toString())
                || StandardTypes.ofJdk(ClassName.get(type)).isPresent()
                || isContainer(types, elements, type);
    }

    private static boolean isOfJdk(Elements elements, TypeElement type) {
        return elements.getPackageOf(type).getQualifiedName().toString().matches("javax?\\..*");
    }

    /** A collection or map that can be created empty and then filled. */
    private static boolean isContainer(Types types, Elements elements, TypeElement type) {
        return List.of("java.util.Collection", "java.util.Map").stream()
                        .anyMatch(each -> isA(types, elements, type, each))
                && ElementFilter.constructorsIn(type.getEnclosedElements()).stream()
                        .anyMatch(KryoTypes::isPlain);
    }

    private static boolean isPlain(ExecutableElement constructor) {
        return constructor.getParameters().isEmpty()
                && constructor.getModifiers().contains(Modifier.PUBLIC);
    }

    private static boolean isA(Types types, Elements elements, TypeElement type, String superclass) {
        TypeMirror wanted = types.erasure(elements.getTypeElement(superclass).asType());
        return types.isSubtype(types.erasure(type.asType()), wanted);
    }
}
