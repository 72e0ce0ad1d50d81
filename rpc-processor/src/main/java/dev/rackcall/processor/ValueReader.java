package dev.rackcall.processor;

import com.palantir.javapoet.ClassName;
import com.palantir.javapoet.TypeName;
import dev.rackcall.processor.Value.Component;
import dev.rackcall.processor.Value.Composite;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import javax.lang.model.element.Element;
import javax.lang.model.element.ElementKind;
import javax.lang.model.element.Modifier;
import javax.lang.model.element.PackageElement;
import javax.lang.model.element.RecordComponentElement;
import javax.lang.model.element.TypeElement;
import javax.lang.model.type.ArrayType;
import javax.lang.model.type.DeclaredType;
import javax.lang.model.type.TypeKind;
import javax.lang.model.type.TypeMirror;
import javax.lang.model.util.Elements;
import javax.lang.model.util.Types;

/** Determines how values of a type are encoded, or explains why they cannot be. One per service. */
final class ValueReader {
    /** The type cannot be sent. The message continues a sentence about a parameter, a component or a result. */
    static final class UnsupportedTypeException extends Exception {
        private static final long serialVersionUID = 1L;

        UnsupportedTypeException(String message) {
            super(message);
        }
    }

    /** The type does not exist yet; another processor may generate it for the next round. */
    static final class UnresolvedTypeException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        UnresolvedTypeException(TypeMirror type) {
            super(type.toString());
        }
    }

    private static final Set<String> FUTURES =
            Set.of("java.util.concurrent.CompletableFuture", "java.util.concurrent.CompletionStage");

    private static final Set<String> STREAMS = Set.of(
            "java.util.stream.Stream",
            "java.util.stream.IntStream",
            "java.util.stream.LongStream",
            "java.util.stream.DoubleStream");

    private final Types types;
    private final Elements elements;
    private final PackageElement home;
    private final List<TypeMirror> registered;
    private final Map<String, Composite> records = new LinkedHashMap<>();

    /**
     * @param home the package of the generated code
     * @param registered the classes that travel by Kryo
     */
    ValueReader(Types types, Elements elements, PackageElement home, List<TypeMirror> registered) {
        this.types = types;
        this.elements = elements;
        this.home = home;
        this.registered = registered;
    }

    Value read(TypeMirror type) throws UnsupportedTypeException {
        return switch (type.getKind()) {
            case ERROR -> throw new UnresolvedTypeException(type);
            case ARRAY -> array((ArrayType) type);
            case DECLARED -> declared((DeclaredType) type);
            case WILDCARD ->
                throw new UnsupportedTypeException(
                        "is the wildcard " + type + ", which does not say what to encode; write the type itself");
            case TYPEVAR ->
                throw new UnsupportedTypeException(
                        "has the type variable " + type + " as its type; write the type that is meant");
            default -> {
                if (!type.getKind().isPrimitive()) {
                    throw unsupported(type, "which is no value");
                }
                yield StandardTypes.scalar(TypeName.get(type));
            }
        };
    }

    private Value array(ArrayType type) throws UnsupportedTypeException {
        TypeMirror component = type.getComponentType();
        if (component.getKind().isPrimitive()) {
            return StandardTypes.primitiveArray(TypeName.get(component));
        }
        if (component instanceof DeclaredType declared
                && !declared.getTypeArguments().isEmpty()) {
            throw unsupported(
                    type, "and Java cannot create arrays of a generic type; use List<" + text(component) + ">");
        }
        return new Value.ObjectArray(TypeName.get(type), part(type, "element", component));
    }

    private Value declared(DeclaredType type) throws UnsupportedTypeException {
        TypeElement element = (TypeElement) type.asElement();
        String name = element.getQualifiedName().toString();
        return switch (name) {
            case "java.util.List", "java.util.Set" ->
                new Value.Elements(TypeName.get(type), name.endsWith("Set"), part(type, "element", argument(type, 0)));
            case "java.util.Map" ->
                new Value.Mapping(
                        TypeName.get(type),
                        part(type, "key", argument(type, 0)),
                        part(type, "value", argument(type, 1)));
            case "java.util.Optional" -> new Value.Maybe(TypeName.get(type), part(type, "element", argument(type, 0)));
            default -> {
                Optional<Value> known = StandardTypes.ofJdk(ClassName.get(element));
                yield known.isPresent() ? known.get() : ofUser(type, element);
            }
        };
    }

    private Value ofUser(DeclaredType type, TypeElement element) throws UnsupportedTypeException {
        if (element.getKind() == ElementKind.ENUM) {
            requireAccess(type, element);
            return new Value.Enumeration(TypeName.get(type), element);
        }
        if (element.getKind() == ElementKind.RECORD
                && element.getTypeParameters().isEmpty()) {
            requireAccess(type, element);
            return composite(type, element);
        }
        if (Declarations.isShared(element)) {
            requireAccess(type, element);
            return new Value.Shared(TypeName.get(type), element);
        }
        if (element.getTypeParameters().isEmpty() && registered.stream().anyMatch(each -> isSubtype(each, type))) {
            requireAccess(type, element);
            return new Value.Registered(TypeName.get(type));
        }
        throw unsupported(type, why(type, element));
    }

    private Value composite(DeclaredType type, TypeElement element) throws UnsupportedTypeException {
        String name = element.getQualifiedName().toString();
        Composite known = records.get(name);
        if (known != null) {
            return known;
        }
        Composite made = new Composite(TypeName.get(type), element);
        records.put(name, made);
        boolean whole = false;
        try {
            for (RecordComponentElement component : element.getRecordComponents()) {
                String componentName = component.getSimpleName().toString();
                made.components()
                        .add(new Component(
                                componentName, part(type, "component '" + componentName + "'", component.asType())));
            }
            if (!made.finite()) {
                throw unsupported(type, "which contains itself without an end; make the component Optional or a List");
            }
            whole = true;
        } finally {
            if (!whole) {
                records.remove(name);
            }
        }
        return made;
    }

    /** Reads a part; its problem is reported as part of the whole. */
    private Value part(TypeMirror whole, String role, TypeMirror part) throws UnsupportedTypeException {
        try {
            return read(part);
        } catch (UnsupportedTypeException e) {
            throw new UnsupportedTypeException("has type " + text(whole) + ", whose " + role + " " + e.getMessage());
        }
    }

    private TypeMirror argument(DeclaredType type, int index) throws UnsupportedTypeException {
        if (type.getTypeArguments().isEmpty()) {
            throw unsupported(
                    type,
                    "without type arguments, so nothing says what to encode; write for example "
                            + StandardTypes.example(
                                    type.asElement().getSimpleName().toString()));
        }
        return type.getTypeArguments().get(index);
    }

    private void requireAccess(TypeMirror type, TypeElement element) throws UnsupportedTypeException {
        boolean samePackage = elements.getPackageOf(element).equals(home);
        for (Element each = element; !(each instanceof PackageElement); each = each.getEnclosingElement()) {
            boolean reachable = each.getModifiers().contains(Modifier.PUBLIC)
                    || (samePackage && !each.getModifiers().contains(Modifier.PRIVATE));
            if (!reachable) {
                throw unsupported(
                        type,
                        "which the generated code in package " + home.getQualifiedName() + " cannot reach; make "
                                + each.getSimpleName() + " public");
            }
        }
    }

    private String why(DeclaredType type, TypeElement element) {
        String name = element.getQualifiedName().toString();
        if (STREAMS.contains(name)) {
            return "and streams only come from a server, as Stream<T> and as the whole result;"
                    + " pass a List, or call once per element";
        }
        if (FUTURES.contains(name)) {
            return "and only a whole result can be a future; pass the value itself";
        }
        if (name.equals("java.lang.Void")) {
            return "which has no values; leave it out, or return void";
        }
        if (element.getKind() == ElementKind.RECORD) {
            return "which is a generic record, and a layout needs fixed types; write a record without type parameters";
        }
        if (isCollection(type)) {
            return "and of collections only List, Set and Map travel; declare it as one of them";
        }
        if (isContainer(element)) {
            return "which travels as a part of a shared object only; declare an interface with @Shared that has it as a field,"
                    + " and pass that";
        }
        if (!element.getTypeParameters().isEmpty()) {
            return "which is generic; write a record with the types that are meant";
        }
        if (element.getKind() == ElementKind.INTERFACE && !isOfJava(element)) {
            return "which is an interface; annotate it with @Shared to pass its objects by pointer, or make it a record to"
                    + " pass them by value";
        }
        return "which is neither a record, an enum, a collection, a @Shared interface nor listed in"
                + " @RpcService(registered = ...); make it a record or register it";
    }

    /** Strings, bytes, arrays, lists and maps in shared memory, which exist only as fields of shared objects. */
    private boolean isContainer(TypeElement element) {
        return elements.getPackageOf(element).getQualifiedName().contentEquals(SharedNames.PACKAGE)
                && element.getSimpleName().toString().startsWith("Shared");
    }

    private boolean isOfJava(TypeElement element) {
        String home = elements.getPackageOf(element).getQualifiedName().toString();
        return home.startsWith("java.") || home.startsWith("javax.");
    }

    private boolean isCollection(TypeMirror type) {
        return List.of("java.lang.Iterable", "java.util.Iterator", "java.util.Map").stream()
                .anyMatch(name -> isSubtype(
                        types.erasure(type),
                        types.erasure(elements.getTypeElement(name).asType())));
    }

    private boolean isSubtype(TypeMirror type, TypeMirror of) {
        return type.getKind() != TypeKind.ERROR && types.isSubtype(type, of);
    }

    private static UnsupportedTypeException unsupported(TypeMirror type, String why) {
        return new UnsupportedTypeException("has type " + text(type) + ", " + why);
    }

    /** The type without the annotations that a mirror prints. */
    private static String text(TypeMirror type) {
        return TypeName.get(type).toString();
    }
}
