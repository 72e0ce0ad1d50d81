package dev.rackcall.processor;

import com.palantir.javapoet.ClassName;
import com.palantir.javapoet.TypeName;
import dev.rackcall.processor.Value.Component;
import dev.rackcall.processor.Value.Composite;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import javax.lang.model.element.AnnotationMirror;
import javax.lang.model.element.Element;
import javax.lang.model.element.ElementKind;
import javax.lang.model.element.Modifier;
import javax.lang.model.element.PackageElement;
import javax.lang.model.element.RecordComponentElement;
import javax.lang.model.element.TypeElement;
import javax.lang.model.element.TypeParameterElement;
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

    /** How often a generic type may lie inside itself with other arguments: {@code Page<Page<String>>}. */
    private static final int MAX_NESTED_ARGUMENTS = 8;

    private final Types types;
    private final Elements elements;
    private final PackageElement home;
    private final List<TypeMirror> registered;
    /** Records and sealed interfaces by type; a part of one may contain it. */
    private final Map<String, Value> made = new LinkedHashMap<>();
    /** The declarations of those that are being read, outermost first. */
    private final List<TypeElement> open = new ArrayList<>();

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
        Set<String> before = Set.copyOf(made.keySet());
        boolean whole = false;
        try {
            Value value = value(type);
            requireEnds(before);
            whole = true;
            return value;
        } finally {
            open.clear();
            if (!whole) {
                made.keySet().retainAll(before);
            }
        }
    }

    /** Checked last, because a record may contain itself by a type that is not complete before. */
    private void requireEnds(Set<String> before) throws UnsupportedTypeException {
        for (Map.Entry<String, Value> each : made.entrySet()) {
            if (!before.contains(each.getKey()) && each.getValue() instanceof Composite record && !record.finite()) {
                throw new UnsupportedTypeException("has type " + each.getKey()
                        + ", which contains itself without an end; make the component Optional or a List");
            }
        }
    }

    private Value value(TypeMirror type) throws UnsupportedTypeException {
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
                    throw unsupported(type, "which is not a value");
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
            case "net.openhft.chronicle.bytes.Bytes" -> chronicleBytes(type);
            default -> {
                Optional<Value> known = StandardTypes.ofJdk(ClassName.get(element));
                yield known.isPresent() ? known.get() : ofUser(type, element);
            }
        };
    }

    private Value chronicleBytes(DeclaredType type) throws UnsupportedTypeException {
        if (!text(type).endsWith("<?>")) {
            throw unsupported(type, "but what lies under the bytes does not travel; write Bytes<?>");
        }
        if (elements.getTypeElement(RpcNames.CHRONICLE_BYTES.canonicalName()) == null) {
            throw unsupported(
                    type,
                    "which needs another module of Rackcall; add dev.rackcall:rackcall-chronicle to the dependencies");
        }
        return new Value.Adapted(TypeName.get(type), RpcNames.CHRONICLE_BYTES);
    }

    private Value ofUser(DeclaredType type, TypeElement element) throws UnsupportedTypeException {
        if (element.getKind() == ElementKind.ENUM) {
            requireAccess(type, element);
            return new Value.Enumeration(TypeName.get(type), element);
        }
        if (element.getQualifiedName().contentEquals(SharedNames.REF.canonicalName())) {
            throw unsupported(type, "which is a pointer; write the @Shared interface itself, which travels as one");
        }
        if (element.getKind() == ElementKind.RECORD) {
            requireArguments(type, element);
            requireAccess(type, element);
            return composite(type, element);
        }
        if (isSealedInterface(element)) {
            requireArguments(type, element);
            requireAccess(type, element);
            return oneOf(type, element);
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

    /** A generic type is encoded for its arguments. */
    private void requireArguments(DeclaredType type, TypeElement element) throws UnsupportedTypeException {
        if (type.getTypeArguments().size() < element.getTypeParameters().size()) {
            throw unsupported(
                    type,
                    "without type arguments, so nothing says what to encode; write for example " + name(element)
                            + element.getTypeParameters().stream()
                                    .map(parameter -> "String")
                                    .collect(Collectors.joining(", ", "<", ">")));
        }
        for (TypeMirror argument : type.getTypeArguments()) {
            if (argument.getKind() == TypeKind.WILDCARD) {
                part(type, "type argument", argument);
            }
        }
        long around = open.stream().filter(element::equals).count();
        if (around > MAX_NESTED_ARGUMENTS) {
            throw unsupported(
                    type,
                    "which contains itself with other type arguments without an end; let it contain the same type");
        }
    }

    private Value composite(DeclaredType type, TypeElement element) throws UnsupportedTypeException {
        String key = text(type);
        Value known = made.get(key);
        if (known != null) {
            return known;
        }
        Composite composite = new Composite(TypeName.get(type));
        made.put(key, composite);
        open.add(element);
        for (RecordComponentElement component : element.getRecordComponents()) {
            String name = component.getSimpleName().toString();
            String role = "component '" + name + "'";
            Value value = part(type, role, types.asMemberOf(type, component));
            Optional<String> ifMissing = Optional.empty();
            Optional<AnnotationMirror> annotation = Declarations.annotation(component, RpcNames.DEFAULT);
            if (annotation.isPresent()) {
                String text = Declarations.textValue(annotation.get());
                ifMissing = Optional.of(DefaultText.of(value, text)
                        .orElseThrow(() -> unsupported(
                                type,
                                "whose " + role + " of type " + TypeText.of(value.type()) + " has @Default(\"" + text
                                        + "\"); " + DefaultText.whatFits(value))));
            }
            composite.components().add(new Component(name, value, ifMissing));
        }
        open.removeLast();
        return composite;
    }

    private Value oneOf(DeclaredType type, TypeElement element) throws UnsupportedTypeException {
        String key = text(type);
        Value known = made.get(key);
        if (known != null) {
            return known;
        }
        Value.OneOf oneOf = new Value.OneOf(TypeName.get(type));
        made.put(key, oneOf);
        open.add(element);
        Map<String, DeclaredType> cases = new LinkedHashMap<>();
        collectCases(type, element, cases);
        for (DeclaredType each : cases.values()) {
            oneOf.cases().add(part(type, "case", each));
        }
        open.removeLast();
        if (cases.isEmpty()) {
            throw unsupported(type, "which no permitted type can implement");
        }
        return oneOf;
    }

    private void collectCases(DeclaredType type, TypeElement element, Map<String, DeclaredType> cases)
            throws UnsupportedTypeException {
        for (TypeMirror permitted : element.getPermittedSubclasses()) {
            TypeElement each =
                    Declarations.declaration(permitted).orElseThrow(() -> new UnresolvedTypeException(permitted));
            Optional<DeclaredType> found = subtype(each, type, element);
            if (found.isEmpty()) {
                continue;
            }
            if (isSealedInterface(each)) {
                collectCases(found.get(), each, cases);
            } else if (each.getKind() == ElementKind.RECORD || each.getKind() == ElementKind.ENUM) {
                cases.putIfAbsent(text(found.get()), found.get());
            } else {
                throw unsupported(
                        type,
                        "which permits " + name(each)
                                + ", and that is neither a record, an enum nor a sealed interface;"
                                + " make it a record");
            }
        }
    }

    /**
     * The type of a permitted class that implements {@code type}: {@code Ok<String>} for {@code Result<String>}. Empty
     * if none does, because the class implements the interface with other arguments.
     */
    private Optional<DeclaredType> subtype(TypeElement permitted, DeclaredType type, TypeElement element)
            throws UnsupportedTypeException {
        Map<String, TypeMirror> arguments = new LinkedHashMap<>();
        for (TypeMirror parent : types.directSupertypes(permitted.asType())) {
            if (parent instanceof DeclaredType declared && declared.asElement().equals(element)) {
                for (int i = 0; i < declared.getTypeArguments().size(); i++) {
                    arguments.put(
                            declared.getTypeArguments().get(i).toString(),
                            type.getTypeArguments().get(i));
                }
            }
        }
        List<TypeMirror> actual = new ArrayList<>();
        for (TypeParameterElement parameter : permitted.getTypeParameters()) {
            TypeMirror argument = arguments.get(parameter.toString());
            if (argument == null) {
                throw unsupported(
                        type,
                        "whose case " + name(permitted) + " has a type parameter " + parameter + " of its own;"
                                + " make it a parameter of " + name(element) + ", too");
            }
            actual.add(argument);
        }
        DeclaredType made = types.getDeclaredType(permitted, actual.toArray(TypeMirror[]::new));
        return types.isSubtype(made, type) ? Optional.of(made) : Optional.empty();
    }

    private static boolean isSealedInterface(TypeElement element) {
        return element.getKind() == ElementKind.INTERFACE
                && element.getModifiers().contains(Modifier.SEALED);
    }

    private static String name(TypeElement element) {
        return element.getSimpleName().toString();
    }

    /** Reads a part; its problem is reported as part of the whole. */
    private Value part(TypeMirror whole, String role, TypeMirror part) throws UnsupportedTypeException {
        try {
            return value(part);
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
            return "and a stream is a whole parameter or the whole result, as Stream<T>;"
                    + " pass a List, or call once per element";
        }
        if (FUTURES.contains(name)) {
            return "and only a whole result can be a future; pass the value itself";
        }
        if (name.equals("java.lang.Void")) {
            return "which has no values; leave it out, or return void";
        }
        if (isContainer(element)) {
            String field = text(type).replace(SharedNames.PACKAGE + ".", "");
            return "which travels as a part of a shared object only; declare an interface with @Shared that has it as a field,"
                    + " '" + field + " items(); void items(" + field + " value);', and pass that";
        }
        if (isCollection(type)) {
            return "and of collections only List, Set and Map travel; declare it as one of them";
        }
        if (isOfJava(element)) {
            return "a type of the JDK that Rackcall does not encode; pass a record with the values that it contains, or"
                    + " its text";
        }
        if (!element.getTypeParameters().isEmpty()) {
            return "which is generic and no record; write a record with these parameters, or one with the types that are"
                    + " meant";
        }
        if (element.getKind() == ElementKind.INTERFACE) {
            return "which is an interface; annotate it with @Shared to pass its objects by pointer, make it sealed and its"
                    + " implementations records to pass one of them by value, or make it a record";
        }
        return "which is neither a record, an enum, a collection, a sealed or @Shared interface nor listed in"
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
