package dev.rackcall.processor;

import com.palantir.javapoet.TypeName;
import dev.rackcall.processor.FieldType.Reference.Absence;
import dev.rackcall.processor.SharedModel.Problem;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import javax.lang.model.element.AnnotationMirror;
import javax.lang.model.element.Element;
import javax.lang.model.element.ElementKind;
import javax.lang.model.element.ExecutableElement;
import javax.lang.model.element.Modifier;
import javax.lang.model.element.TypeElement;
import javax.lang.model.type.TypeKind;
import javax.lang.model.type.TypeMirror;
import javax.lang.model.util.ElementFilter;

/** Reads the accessors of a shared interface and of the interfaces that it extends, and pairs them. */
final class SharedInterfaceReader {
    /** Methods of {@code Object} and of the flyweights' base class whose names would clash with an accessor. */
    private static final Set<String> RESERVED = Set.of(
            "clone",
            "finalize",
            "hashCode",
            "toString",
            "getBoolean",
            "getByte",
            "getShort",
            "getChar",
            "getInt",
            "getLong",
            "getFloat",
            "getDouble",
            "getString",
            "getOptionalString",
            "getBytes",
            "getOptionalBytes",
            "getRef",
            "hasField",
            "nullReference");

    private final TypeElement type;
    private final List<TypeElement> embedding;
    private final List<Problem> problems = new ArrayList<>();
    private final List<SharedField> fields = new ArrayList<>();
    /** Fields for whose accessor names a problem was already reported. */
    private final Set<String> beanFields = new HashSet<>();

    private final Map<String, ExecutableElement> getters = new LinkedHashMap<>();
    private final Map<String, Map<String, ExecutableElement>> setters = new LinkedHashMap<>();

    SharedInterfaceReader(TypeElement type, List<TypeElement> embedding) {
        this.type = type;
        this.embedding = embedding;
        if (isInterfaceThatCanBeImplemented()) {
            collect(type);
            getters.values().forEach(this::readField);
            reportSettersAlone();
        }
    }

    List<SharedField> fields() {
        return fields;
    }

    List<Problem> problems() {
        return problems;
    }

    private boolean isInterfaceThatCanBeImplemented() {
        String name = type.getSimpleName().toString();
        if (type.getKind() != ElementKind.INTERFACE) {
            problem(type, name + ": @Shared goes on an interface; the processor writes the class");
        } else if (!type.getTypeParameters().isEmpty()) {
            problem(
                    type,
                    name + ": a shared interface has one layout, so it cannot be generic; remove "
                            + type.getTypeParameters());
        } else if (type.getModifiers().contains(Modifier.SEALED)) {
            problem(type, name + ": the generated class must implement it; remove sealed");
        } else {
            for (Element element = type; element != null; element = element.getEnclosingElement()) {
                if (element.getModifiers().contains(Modifier.PRIVATE)) {
                    problem(
                            type,
                            name + ": the generated class cannot reach it; make " + element.getSimpleName()
                                    + " package-private or public");
                }
            }
        }
        return problems.isEmpty();
    }

    /** A method of a sub-interface hides the same method of its super-interfaces, so sub-interfaces come first. */
    private void collect(TypeElement declaring) {
        for (ExecutableElement method : ElementFilter.methodsIn(declaring.getEnclosedElements())) {
            boolean isAccessor = method.getModifiers().contains(Modifier.ABSTRACT) && !Declarations.isOfObject(method);
            if (isAccessor) {
                collect(method);
            } else if (method.isDefault()
                    && RESERVED.contains(method.getSimpleName().toString())) {
                rename(method);
            }
        }
        for (TypeMirror parent : declaring.getInterfaces()) {
            TypeElement element = Declarations.declaration(parent).orElse(null);
            // Releasable has no accessors, and implements its method.
            if (element == null || element.getQualifiedName().contentEquals(SharedNames.RELEASABLE)) {
                continue;
            }
            if (element.getTypeParameters().isEmpty()) {
                collect(element);
            } else {
                problem(
                        type,
                        type.getSimpleName() + ": extends the generic " + parent
                                + "; declare its accessors here with their types and drop the extends");
            }
        }
    }

    private void collect(ExecutableElement method) {
        String name = method.getSimpleName().toString();
        int parameters = method.getParameters().size();
        boolean isGetter = parameters == 0 && method.getReturnType().getKind() != TypeKind.VOID;
        if (!method.getTypeParameters().isEmpty() || !(isGetter || parameters == 1)) {
            problem(
                    method,
                    Declarations.name(method)
                            + ": a shared interface holds accessors: T name() and void name(T value);"
                            + " make this one default or static, or remove it");
        } else if (RESERVED.contains(name)) {
            rename(method);
        } else if (isGetter) {
            getters.putIfAbsent(name, method);
        } else {
            setters.computeIfAbsent(name, key -> new LinkedHashMap<>()).putIfAbsent(parameterType(method), method);
        }
    }

    private void readField(ExecutableElement getter) {
        FieldTypeReader reader = new FieldTypeReader(type, embedding, getter);
        Optional<FieldType> fieldType = reader.read();
        problems.addAll(reader.problems());
        if (fieldType.isEmpty()) {
            return;
        }
        boolean inPlace =
                fieldType.get() instanceof FieldType.Embedded || fieldType.get() instanceof FieldType.FixedArray;
        Optional<ExecutableElement> follower = followerOf(getter, fieldType.get());
        Optional<ExecutableElement> setter = setterOf(getter, inPlace);
        if (inPlace || setter.isPresent()) {
            String name = getter.getSimpleName().toString();
            fields.add(new SharedField(name, fieldType.get(), getter, setter, follower, versionOf(getter, inPlace), 0));
        }
    }

    private int versionOf(ExecutableElement getter, boolean inPlace) {
        Optional<AnnotationMirror> since = Declarations.annotation(getter, SharedNames.SINCE);
        if (since.isEmpty()) {
            return SharedField.FIRST_VERSION;
        }
        int version = Declarations.intValue(since.get());
        if (version <= SharedField.FIRST_VERSION) {
            problem(
                    getter,
                    Declarations.name(getter) + ": @Since(" + version
                            + ") means the first version or none; leave it out, or write @Since(2) or higher");
        }
        if (inPlace) {
            problem(
                    getter,
                    Declarations.name(getter)
                            + ": objects of older versions would lack the place for it; make a field with @Since a reference,"
                            + " without @Inline and @Length");
        }
        return version;
    }

    /**
     * {@code boolean next(Document into)} beside {@code Ref<Document> next()}. It is not a setter, so it is removed
     * from the setters.
     */
    private Optional<ExecutableElement> followerOf(ExecutableElement getter, FieldType fieldType) {
        Map<String, ExecutableElement> candidates =
                setters.getOrDefault(getter.getSimpleName().toString(), Map.of());
        if (!(fieldType instanceof FieldType.Reference reference) || reference.absence() == Absence.THROWS) {
            return Optional.empty();
        }
        ExecutableElement candidate = candidates.get(typeName(reference.declared()));
        if (candidate == null || candidate.getReturnType().getKind() != TypeKind.BOOLEAN) {
            return Optional.empty();
        }
        return Optional.of(candidates.remove(typeName(reference.declared())));
    }

    private Optional<ExecutableElement> setterOf(ExecutableElement getter, boolean inPlace) {
        String name = Declarations.name(getter);
        String wanted = typeName(getter.getReturnType());
        List<ExecutableElement> candidates =
                List.copyOf(setters.getOrDefault(getter.getSimpleName().toString(), Map.of())
                        .values());
        if (inPlace) {
            for (ExecutableElement setter : candidates) {
                problem(
                        setter,
                        name + ": lies inside the record and is changed in place through its getter;"
                                + " remove the setter");
            }
            return Optional.empty();
        }
        if (candidates.isEmpty() && isBeanName(getter, wanted)) {
            return Optional.empty();
        }
        if (candidates.isEmpty()) {
            problem(
                    getter,
                    name + ": has a getter but no setter; add void " + getter.getSimpleName() + "(" + wanted
                            + " value)");
            return Optional.empty();
        }
        if (candidates.size() > 1) {
            List<String> types = candidates.stream()
                    .map(SharedInterfaceReader::parameterType)
                    .toList();
            problem(
                    candidates.get(1),
                    name + ": has " + candidates.size() + " setters, for " + types + "; keep only the one for "
                            + wanted);
            return Optional.empty();
        }
        ExecutableElement setter = candidates.get(0);
        String taken = parameterType(setter);
        if (!taken.equals(wanted)) {
            problem(
                    setter,
                    name + ": setter takes " + taken + " but getter returns " + wanted + "; make them the same type");
            return Optional.empty();
        }
        return isVoidOrFluent(setter) ? Optional.of(setter) : Optional.empty();
    }

    /**
     * A getter or setter that is named as in a Java bean and has no partner of the same name: reports how accessors are
     * named, once for the pair.
     */
    private boolean isBeanName(ExecutableElement accessor, String fieldType) {
        String name = accessor.getSimpleName().toString();
        String field = "";
        for (String prefix : List.of("get", "set", "is")) {
            if (name.startsWith(prefix)
                    && name.length() > prefix.length()
                    && Character.isUpperCase(name.charAt(prefix.length()))) {
                field = name.substring(prefix.length());
            }
        }
        if (field.isEmpty()) {
            return false;
        }
        if (beanFields.add(field)) {
            String own = Character.toLowerCase(field.charAt(0)) + field.substring(1);
            problem(
                    accessor,
                    Declarations.name(accessor)
                            + ": both accessors of a field have its name, without get or set; write " + fieldType + " "
                            + own + "() and void " + own + "(" + fieldType + " value)");
        }
        return true;
    }

    private boolean isVoidOrFluent(ExecutableElement setter) {
        if (setter.getReturnType().getKind() == TypeKind.VOID) {
            return true;
        }
        TypeElement returned = Declarations.declaration(setter.getReturnType()).orElse(null);
        if (type.equals(returned) || setter.getEnclosingElement().equals(returned)) {
            return true;
        }
        problem(
                setter,
                Declarations.name(setter) + ": a setter returns void or " + type.getSimpleName() + ", not "
                        + setter.getReturnType());
        return false;
    }

    private void reportSettersAlone() {
        setters.forEach((name, overloads) -> {
            if (!getters.containsKey(name)) {
                ExecutableElement setter = overloads.values().iterator().next();
                if (isBeanName(setter, parameterType(setter))) {
                    return;
                }
                problem(
                        setter,
                        Declarations.name(setter) + ": has a setter but no getter; add " + parameterType(setter) + " "
                                + name + "()");
            }
        });
    }

    private void rename(ExecutableElement method) {
        problem(method, Declarations.name(method) + ": the generated class inherits a method of that name; rename it");
    }

    private void problem(Element at, String message) {
        problems.add(new Problem(at, message));
    }

    /**
     * The parameter type without type annotations, so that a nullness annotation on one accessor does not make two
     * types.
     */
    private static String parameterType(ExecutableElement setter) {
        return typeName(setter.getParameters().get(0).asType());
    }

    private static String typeName(TypeMirror type) {
        return TypeName.get(type).toString();
    }
}
