package dev.rackcall.processor;

import com.palantir.javapoet.TypeName;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiConsumer;
import java.util.regex.Pattern;
import javax.lang.model.element.AnnotationMirror;
import javax.lang.model.element.AnnotationValue;
import javax.lang.model.element.Element;
import javax.lang.model.element.ElementKind;
import javax.lang.model.element.Modifier;
import javax.lang.model.element.TypeElement;
import javax.lang.model.element.VariableElement;
import javax.lang.model.type.TypeKind;
import javax.lang.model.type.TypeMirror;
import javax.lang.model.util.Elements;
import javax.lang.model.util.Types;

/** The values of {@code @RpcService}. */
final class ServiceAnnotation {
    static final String DEFAULT_ISOLATION = "DEFAULT";

    private static final Pattern CHANNEL = Pattern.compile("(/(?!\\.{1,2}(/|$))[A-Za-z0-9._-]+)+");

    /** The runtime's limit, checked here because a longer name would otherwise fail only when it is served. */
    private static final int MAX_CHANNEL = 80;

    private final Types types;
    private final Elements elements;
    private final TypeElement service;
    private final AnnotationMirror annotation;
    private final BiConsumer<Element, String> problem;

    ServiceAnnotation(Types types, Elements elements, TypeElement service, BiConsumer<Element, String> problem) {
        this.types = types;
        this.elements = elements;
        this.service = service;
        this.annotation = Declarations.annotation(service, RpcNames.RPC_SERVICE).orElseThrow();
        this.problem = problem;
    }

    /** The channel's name; a problem if it is not a path. */
    String channel() {
        String channel = member(annotation, "value")
                .map(AnnotationValue::getValue)
                .orElse("")
                .toString();
        if (!CHANNEL.matcher(channel).matches()) {
            problem.accept(
                    service,
                    service.getSimpleName() + ": the channel name \"" + channel
                            + "\" must be a path of letters, digits, '.', '_' and '-',"
                            + " for example \"/shop/search\"");
        }
        if (channel.length() > MAX_CHANNEL) {
            problem.accept(
                    service,
                    service.getSimpleName() + ": the channel name \"" + channel + "\" has " + channel.length()
                            + " characters; use " + MAX_CHANNEL + " at most");
        }
        return channel;
    }

    /** The classes that travel by Kryo, in order. */
    List<TypeMirror> registered() {
        List<TypeMirror> classes = new ArrayList<>();
        if (member(annotation, "registered").map(AnnotationValue::getValue).orElse(List.of())
                instanceof List<?> listed) {
            for (Object each : listed) {
                if (each instanceof AnnotationValue value && value.getValue() instanceof TypeMirror type) {
                    requireClass(type);
                    classes.add(type);
                }
            }
        }
        return classes;
    }

    private void requireClass(TypeMirror type) {
        if (type.getKind() == TypeKind.ERROR) {
            throw new ValueReader.UnresolvedTypeException(type);
        }
        Optional<TypeElement> element = Declarations.declaration(type);
        boolean hasObjects = element.isPresent()
                ? element.get().getKind() == ElementKind.ENUM
                        || (!element.get().getKind().isInterface()
                                && !element.get().getModifiers().contains(Modifier.ABSTRACT))
                : type.getKind() == TypeKind.ARRAY;
        if (!hasObjects) {
            problem.accept(
                    service,
                    service.getSimpleName() + ": registered lists " + TypeName.get(type)
                            + ", of which there are no objects; list the classes that implement or extend it");
        } else if (element.isPresent() && !KryoTypes.isSupported(types, elements, element.get())) {
            problem.accept(
                    service,
                    service.getSimpleName() + ": registered lists " + TypeName.get(type)
                            + ", whose fields the JDK hides from Kryo; pass a record with the values that it contains, or"
                            + " its text");
        }
    }

    private static Optional<? extends AnnotationValue> member(AnnotationMirror annotation, String member) {
        return annotation.getElementValues().entrySet().stream()
                .filter(entry -> entry.getKey().getSimpleName().contentEquals(member))
                .map(Map.Entry::getValue)
                .findFirst();
    }

    /** The isolation that {@code @Rpc} or {@code @RpcService} declares; empty if it declares none. */
    static Optional<String> isolation(AnnotationMirror annotation) {
        return member(annotation, "isolation")
                .map(value ->
                        ((VariableElement) value.getValue()).getSimpleName().toString())
                .filter(name -> !name.equals(DEFAULT_ISOLATION));
    }

    /** A boolean member of {@code @Rpc}, false by default. */
    static boolean flag(AnnotationMirror annotation, String member) {
        return member(annotation, member)
                .map(AnnotationValue::getValue)
                .orElse(false)
                .equals(true);
    }
}
