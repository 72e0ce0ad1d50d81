package dev.rackcall.processor;

import dev.rackcall.processor.SharedModel.Problem;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import javax.lang.model.element.AnnotationMirror;
import javax.lang.model.element.Element;
import javax.lang.model.element.ElementKind;
import javax.lang.model.element.ExecutableElement;
import javax.lang.model.element.TypeElement;
import javax.lang.model.type.ArrayType;
import javax.lang.model.type.DeclaredType;
import javax.lang.model.type.TypeKind;
import javax.lang.model.type.TypeMirror;

/** Derives the type of a field from the return type and the annotations of its getter. */
final class FieldTypeReader {
    private static final int MAX_FIXED_STRING = 0xffff;
    private static final int MAX_ENUM_CONSTANTS = 1 << 16;
    private static final String SUPPORTED = "supported are primitives, enums, String, byte[], @Shared interfaces,"
            + " Optional and Ref of those, and the Shared... containers";

    /** Replacements for types that authors often try first. */
    private static final Map<String, String> REMEDIES = Map.ofEntries(
            Map.entry("java.lang.Boolean", "use boolean"),
            Map.entry("java.lang.Byte", "use byte"),
            Map.entry("java.lang.Short", "use short"),
            Map.entry("java.lang.Character", "use char"),
            Map.entry("java.lang.Integer", "use int"),
            Map.entry("java.lang.Long", "use long"),
            Map.entry("java.lang.Float", "use float"),
            Map.entry("java.lang.Double", "use double"),
            Map.entry("java.lang.CharSequence", "use String or SharedString"),
            Map.entry("java.util.List", "use SharedList, SharedIntList, SharedLongList or SharedDoubleList"),
            Map.entry("java.util.Map", "use SharedStringMap or SharedLongMap"),
            Map.entry("dev.rackcall.shm.types.SharedMap", "use SharedStringMap or SharedLongMap"));

    private final TypeElement owner;
    private final List<TypeElement> embedding;
    private final ExecutableElement getter;
    private final TypeMirror type;
    private final String name;
    private final List<Problem> problems = new ArrayList<>();

    FieldTypeReader(TypeElement owner, List<TypeElement> embedding, ExecutableElement getter) {
        this.owner = owner;
        this.embedding = embedding;
        this.getter = getter;
        this.type = getter.getReturnType();
        this.name = Declarations.name(getter);
    }

    List<Problem> problems() {
        return problems;
    }

    /** The field's type; empty if there is a problem. */
    Optional<FieldType> read() {
        Optional<AnnotationMirror> fixedString = Declarations.annotation(getter, SharedNames.FIXED_STRING);
        Optional<AnnotationMirror> length = Declarations.annotation(getter, SharedNames.LENGTH);
        boolean inline = Declarations.has(getter, SharedNames.INLINE);
        if ((fixedString.isPresent() ? 1 : 0) + (length.isPresent() ? 1 : 0) + (inline ? 1 : 0) > 1) {
            return problem("has more than one of @FixedString, @Length and @Inline; keep one");
        }
        if (type.getKind() == TypeKind.ERROR) {
            return problem(type + " cannot be found; is an import or a dependency missing?");
        }
        if (fixedString.isPresent()) {
            return fixedString(Declarations.intValue(fixedString.get()));
        }
        if (length.isPresent()) {
            return fixedArray(Declarations.intValue(length.get()));
        }
        return inline ? embedded() : plain();
    }

    private Optional<FieldType> fixedString(int capacity) {
        if (!isString(type)) {
            return problem("@FixedString goes on a String, not on " + type);
        }
        if (capacity < 1 || capacity > MAX_FIXED_STRING) {
            return problem("@FixedString(" + capacity + ") must be between 1 and " + MAX_FIXED_STRING
                    + " bytes; longer text fits a plain String");
        }
        return Optional.of(new FieldType.FixedText(capacity));
    }

    private Optional<FieldType> fixedArray(int length) {
        Optional<Target> array = Target.of(type).filter(target -> target.arrayElementBytes() > 0);
        if (array.isEmpty()) {
            return problem("@Length goes on SharedBytes, SharedIntArray, SharedLongArray, SharedFloatArray,"
                    + " SharedDoubleArray or SharedArray, not on " + type);
        }
        if (length < 1 || length > Integer.MAX_VALUE / Long.BYTES) {
            return problem("@Length(" + length + ") must be between 1 and " + Integer.MAX_VALUE / Long.BYTES);
        }
        return Optional.of(new FieldType.FixedArray(array.get(), length));
    }

    private Optional<FieldType> embedded() {
        Optional<TypeElement> nested = Declarations.declaration(type).filter(Declarations::isShared);
        if (nested.isEmpty()) {
            return problem("@Inline goes on a @Shared interface, not on " + type);
        }
        List<TypeElement> path = new ArrayList<>(embedding);
        path.add(owner);
        if (path.contains(nested.get())) {
            path.add(nested.get());
            return problem("@Inline types contain each other without end: "
                    + path.stream()
                            .map(element -> element.getSimpleName().toString())
                            .collect(Collectors.joining(" -> "))
                    + "; make one of them a reference by removing @Inline");
        }
        SharedModel model = SharedModel.of(nested.get(), path);
        for (Problem problem : model.problems()) {
            if (problem.message().contains("@Inline types contain each other")) {
                return problem(problem.message().substring(problem.message().indexOf(": ") + 2));
            }
        }
        return Optional.of(new FieldType.Embedded(model));
    }

    private Optional<FieldType> plain() {
        if (type.getKind().isPrimitive()) {
            return Optional.of(new FieldType.Primitive(type.getKind()));
        }
        TypeElement element = Declarations.declaration(type).orElse(null);
        if (element != null && element.getKind() == ElementKind.ENUM) {
            return constant(element);
        }
        Optional<Target> value = valueTarget(type);
        if (value.isPresent()) {
            return Optional.of(new FieldType.Value(value.get(), false));
        }
        if (element == null) {
            return unsupported(type);
        }
        if (element.getQualifiedName().contentEquals("java.util.Optional")) {
            return wrapped(FieldType.Reference.Absence.OPTIONAL);
        }
        if (element.getQualifiedName().contentEquals(SharedNames.REF.canonicalName())) {
            return wrapped(FieldType.Reference.Absence.REF);
        }
        return reference(type, FieldType.Reference.Absence.THROWS);
    }

    private Optional<FieldType> constant(TypeElement element) {
        List<String> constants = element.getEnclosedElements().stream()
                .filter(member -> member.getKind() == ElementKind.ENUM_CONSTANT)
                .map(member -> member.getSimpleName().toString())
                .toList();
        if (constants.isEmpty() || constants.size() > MAX_ENUM_CONSTANTS) {
            return problem("enum " + element.getSimpleName() + " has " + constants.size()
                    + " constants; a field needs at least one");
        }
        return Optional.of(new FieldType.Constant(element, constants));
    }

    private Optional<FieldType> wrapped(FieldType.Reference.Absence absence) {
        List<? extends TypeMirror> arguments = ((DeclaredType) type).getTypeArguments();
        if (arguments.size() != 1) {
            return problem(type + " needs a type argument: what does it lead to?");
        }
        TypeMirror argument = arguments.get(0);
        Optional<Target> value = valueTarget(argument);
        if (value.isPresent() && absence == FieldType.Reference.Absence.OPTIONAL) {
            return Optional.of(new FieldType.Value(value.get(), true));
        }
        return reference(argument, absence);
    }

    private Optional<FieldType> reference(TypeMirror to, FieldType.Reference.Absence absence) {
        Optional<Target> target = Target.of(to);
        return target.isPresent() ? Optional.of(new FieldType.Reference(target.get(), to, absence)) : unsupported(to);
    }

    private Optional<FieldType> unsupported(TypeMirror unsupported) {
        if (unsupported instanceof ArrayType array) {
            return problem(unsupported + " is not supported; use a Shared...Array of " + array.getComponentType()
                    + ", with @Length(n) if it should lie inside the record");
        }
        TypeElement element = Declarations.declaration(unsupported).orElse(null);
        if (element == null) {
            return problem(unsupported + " is not supported; " + SUPPORTED);
        }
        String remedy = REMEDIES.get(element.getQualifiedName().toString());
        if (remedy != null) {
            return problem(unsupported + " is not supported; " + remedy);
        }
        if (element.getQualifiedName().contentEquals(SharedNames.SHARED_INLINE_ARRAY.canonicalName())) {
            return problem(
                    unsupported + " is not supported; its elements are @Shared interfaces with fields, none of them"
                            + " @Since; for all others use SharedArray");
        }
        boolean runtime = element.getQualifiedName().toString().startsWith(SharedNames.PACKAGE + ".");
        if (element.getKind() == ElementKind.INTERFACE && !runtime) {
            return problem(element.getSimpleName() + " is not a shared type; annotate it with @Shared");
        }
        if (!element.getTypeParameters().isEmpty()) {
            return problem(unsupported + " is not supported; give " + element.getSimpleName()
                    + " a shared type as its argument");
        }
        return problem(unsupported + " is not supported; " + SUPPORTED);
    }

    private Optional<FieldType> problem(String message) {
        Element at = getter.getEnclosingElement().equals(owner) ? getter : owner;
        problems.add(new Problem(at, name + ": " + message));
        return Optional.empty();
    }

    /** {@code String} and {@code byte[]} are values: the record refers to an object that only its accessors see. */
    private static Optional<Target> valueTarget(TypeMirror type) {
        if (isString(type)) {
            return Optional.of(Target.named(SharedNames.SHARED_STRING));
        }
        boolean bytes =
                type instanceof ArrayType array && array.getComponentType().getKind() == TypeKind.BYTE;
        return bytes ? Optional.of(Target.named(SharedNames.SHARED_BYTES)) : Optional.empty();
    }

    private static boolean isString(TypeMirror type) {
        return Declarations.declaration(type)
                .filter(element -> element.getQualifiedName().contentEquals("java.lang.String"))
                .isPresent();
    }
}
