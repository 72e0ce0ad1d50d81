package dev.rackcall.processor;

import java.util.Optional;
import java.util.function.Function;
import javax.lang.model.element.ElementKind;

/** The text of a {@code @Default}, checked against the component's type. */
final class DefaultText {
    /** Bounded, because a peer writes it once for each record that it converts. */
    private static final int MAX_CHARS = 1000;

    private DefaultText() {}

    /** The text as service descriptions write it; empty if it is not a value of the type. */
    static Optional<String> of(Value value, String text) {
        return switch (value) {
            case Value.Scalar scalar -> scalar(scalar.accessor(), text);
            case Value.Enumeration constants -> Optional.of(text).filter(name -> hasConstant(constants, name));
            case Value.Direct direct
            when direct.accessor().equals("String") -> Optional.of(text).filter(each -> each.length() <= MAX_CHARS);
            default -> Optional.of(text).filter(each -> each.isEmpty() && canBeEmpty(value));
        };
    }

    private static Optional<String> scalar(String accessor, String text) {
        return switch (accessor) {
            case "Boolean" -> Optional.of(text).filter(each -> each.equals("true") || each.equals("false"));
            case "Char" -> Optional.of(text).filter(each -> each.length() == 1);
            case "Byte" -> parsed(text, Byte::valueOf);
            case "Short" -> parsed(text, Short::valueOf);
            case "Int" -> parsed(text, Integer::valueOf);
            case "Long" -> parsed(text, Long::valueOf);
            case "Float" -> parsed(text, Float::valueOf);
            default -> parsed(text, Double::valueOf);
        };
    }

    private static Optional<String> parsed(String text, Function<String, Object> parse) {
        try {
            return Optional.of(parse.apply(text).toString());
        } catch (NumberFormatException e) {
            return Optional.empty();
        }
    }

    private static boolean hasConstant(Value.Enumeration constants, String name) {
        return constants.element().getEnclosedElements().stream()
                .anyMatch(each -> each.getKind() == ElementKind.ENUM_CONSTANT
                        && each.getSimpleName().contentEquals(name));
    }

    /** Collections and arrays, all of which begin with a count. */
    private static boolean canBeEmpty(Value value) {
        return switch (value) {
            case Value.Elements elements -> true;
            case Value.ObjectArray array -> true;
            case Value.Mapping mapping -> true;
            case Value.Direct direct -> true;
            case Value.Beside beside -> beside.codec().equals(RpcNames.PRIMITIVE_ARRAYS);
            default -> false;
        };
    }

    /** The end of a message about a text that does not fit. */
    static String whatFits(Value value) {
        return switch (value) {
            case Value.Scalar scalar ->
                "write a value of that type"
                        + switch (scalar.accessor()) {
                            case "Boolean" -> ", \"true\" or \"false\"";
                            case "Char" -> ", one character";
                            default -> ", for example \"0\"";
                        };
            case Value.Direct direct
            when direct.accessor().equals("String") -> "write " + MAX_CHARS + " characters at most";
            case Value.Enumeration constants -> "write the name of one of its constants";
            case Value.Maybe maybe -> "it is empty where it is missing, so remove the annotation";
            default ->
                canBeEmpty(value)
                        ? "the only default of a collection or an array is \"\", an empty one"
                        : "only primitives, strings, enums, collections and arrays have defaults, so make it Optional<"
                                + TypeText.of(value.type()) + ">";
        };
    }
}
