package dev.rackcall.processor;

import com.palantir.javapoet.ClassName;
import com.palantir.javapoet.TypeName;
import dev.rackcall.processor.Value.Composite;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.StringJoiner;
import java.util.TreeMap;
import java.util.stream.Collectors;
import javax.lang.model.element.ElementKind;
import javax.lang.model.element.Modifier;
import javax.lang.model.element.TypeElement;
import javax.lang.model.element.VariableElement;
import javax.lang.model.type.TypeMirror;
import javax.lang.model.util.ElementFilter;

/**
 * A service that can be generated.
 *
 * @param type the interface
 * @param channel the channel's name
 * @param methods in index order
 * @param registered the classes that travel by Kryo, in the order of their registration
 * @param memberNames the names of the interface's members, inherited ones included, which the stub inherits, too
 */
record ServiceModel(
        TypeElement type,
        String channel,
        List<RpcMethod> methods,
        List<TypeMirror> registered,
        Set<String> memberNames) {
    ClassName name() {
        return ClassName.get(type);
    }

    ClassName generatedName() {
        return ClassName.get(name().packageName(), String.join("_", name().simpleNames()) + "_Rpc");
    }

    /** All values that the methods mention, and what lies inside them. */
    Set<Value> values() {
        Set<Value> reached = new LinkedHashSet<>();
        for (RpcMethod method : methods) {
            method.parameters().forEach(parameter -> parameter.value().reach(reached));
            method.result().ifPresent(value -> value.reach(reached));
        }
        return reached;
    }

    /**
     * The contract of both ends: a line for the channel, for each method, for the isolation of shared arguments, and for
     * each type that the methods mention.
     * People read it, and so does the run time ({@code Schema} in {@code dev.rackcall.rpc.schema}) to compare versions.
     */
    String description() {
        StringJoiner lines = new StringJoiner("\n");
        lines.add("service " + channel);
        for (int i = 0; i < methods.size(); i++) {
            RpcMethod method = methods.get(i);
            // Both ends must agree on stores: they change the scope of a caller that does not expect them.
            String kind = method.style().name().toLowerCase(Locale.ROOT) + (method.writes() ? "_writes" : "");
            lines.add(i + " " + kind + " " + describe(method));
        }
        for (int i = 0; i < methods.size(); i++) {
            // A line of its own: ends that differ in it can call each other.
            if (methods.get(i).isIsolated()) {
                lines.add("isolation " + i + " " + methods.get(i).isolation());
            }
        }
        describedTypes().values().forEach(lines::add);
        for (int i = 0; i < registered.size(); i++) {
            lines.add("registered " + i + " " + describeRegistered(registered.get(i)));
        }
        return lines.toString();
    }

    private Map<String, String> describedTypes() {
        Map<String, String> lines = new TreeMap<>();
        for (Value value : values()) {
            String name = value.type().toString();
            switch (value) {
                case Composite composite -> lines.put(name, describe(composite));
                case Value.OneOf oneOf ->
                    lines.put(
                            name,
                            oneOf.cases().stream()
                                    .map(each -> each.type().toString())
                                    .collect(Collectors.joining(", ", "oneof " + oneOf.type() + "{", "}")));
                case Value.Enumeration enumeration -> lines.put(name, describe(enumeration));
                case Value.Shared shared ->
                    lines.put(
                            name,
                            "shared "
                                    + SharedModel.of(shared.element())
                                            .description()
                                            .replace("\n", "\nshared "));
                default -> {}
            }
        }
        return lines;
    }

    /** Types have qualified names, because the runtime looks them up, but without {@code java.lang}. */
    private static String describe(RpcMethod method) {
        String line = method.returns() + " " + method.name()
                + method.parameters().stream()
                        .map(parameter -> parameter.type() + " " + parameter.name())
                        .collect(Collectors.joining(", ", "(", ")"));
        return line.replaceAll("\\bjava\\.lang\\.(?=[A-Z])", "");
    }

    private static String describe(Composite composite) {
        return composite.components().stream()
                .map(component -> component.value().type() + " " + component.name()
                        + component
                                .ifMissing()
                                .map(text -> " = " + quoted(text))
                                .orElse(""))
                .collect(Collectors.joining(", ", "record " + composite.type() + "(", ")"));
    }

    /** The text between quotation marks; characters other than plain ASCII as in Java, {@code \\u000a}. */
    private static String quoted(String text) {
        return text.chars()
                .mapToObj(c -> c < ' ' || c > '~' || c == '"' || c == '\\'
                        ? String.format(Locale.ROOT, "\\u%04x", c)
                        : String.valueOf((char) c))
                .collect(Collectors.joining("", "\"", "\""));
    }

    private static String describe(Value.Enumeration enumeration) {
        return enumeration.element().getEnclosedElements().stream()
                .filter(element -> element.getKind() == ElementKind.ENUM_CONSTANT)
                .map(element -> element.getSimpleName().toString())
                .collect(Collectors.joining(", ", "enum " + enumeration.type() + "{", "}"));
    }

    /** Kryo writes the fields of a class and of its superclasses; fields of JDK classes are not listed. */
    private static String describeRegistered(TypeMirror registered) {
        StringJoiner fields = new StringJoiner(", ", TypeName.get(registered) + "{", "}");
        TypeElement each = Declarations.declaration(registered).orElse(null);
        while (each != null && !each.getQualifiedName().toString().startsWith("java.")) {
            for (VariableElement field : ElementFilter.fieldsIn(each.getEnclosedElements())) {
                if (!field.getModifiers().contains(Modifier.STATIC)
                        && !field.getModifiers().contains(Modifier.TRANSIENT)) {
                    fields.add(TypeName.get(field.asType()) + " " + field.getSimpleName());
                }
            }
            each = Declarations.declaration(each.getSuperclass()).orElse(null);
        }
        return fields.toString();
    }
}
