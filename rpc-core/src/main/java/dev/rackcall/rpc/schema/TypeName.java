package dev.rackcall.rpc.schema;

import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * A type as a description writes it: {@code java.util.Map<String, shop.Item[]>}. Names of {@code java.lang} have no
 * package.
 *
 * @param name the class or primitive; {@link #ARRAY} for arrays, whose only argument is the type of the elements
 */
record TypeName(String name, List<TypeName> arguments) {
    static final String ARRAY = "[]";

    private static final String JAVA_LANG = "java.lang.";
    /** Primitive types by box. */
    private static final Map<String, String> PRIMITIVES = Map.of(
            "Boolean",
            "boolean",
            "Byte",
            "byte",
            "Short",
            "short",
            "Character",
            "char",
            "Integer",
            "int",
            "Long",
            "long",
            "Float",
            "float",
            "Double",
            "double");

    static TypeName of(String written, List<TypeName> arguments) {
        String plain = written.startsWith(JAVA_LANG) && written.indexOf('.', JAVA_LANG.length()) < 0
                ? written.substring(JAVA_LANG.length())
                : written;
        return new TypeName(plain, arguments);
    }

    static TypeName arrayOf(TypeName element) {
        return new TypeName(ARRAY, List.of(element));
    }

    TypeName argument(int index) {
        return arguments.get(index);
    }

    boolean isArray() {
        return name.equals(ARRAY);
    }

    boolean isOptional() {
        return name.equals("java.util.Optional");
    }

    /** The same type without a box, which is encoded like its primitive type. */
    TypeName unboxed() {
        String primitive = PRIMITIVES.get(name);
        return primitive == null ? this : new TypeName(primitive, List.of());
    }

    @Override
    public String toString() {
        if (isArray()) {
            return arguments.getFirst() + ARRAY;
        }
        return arguments.isEmpty()
                ? name
                : name + arguments.stream().map(TypeName::toString).collect(Collectors.joining(", ", "<", ">"));
    }

    /** For people: simple names. */
    String simple() {
        return simple(toString());
    }

    /** A text whose qualified class names are replaced by simple ones, nested classes with their outer ones. */
    static String simple(String text) {
        StringBuilder shorter = new StringBuilder();
        int word = 0;
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '.' && isPackage(text, word, i)) {
                shorter.setLength(shorter.length() - (i - word));
                word = i + 1;
                continue;
            }
            if (!Character.isJavaIdentifierPart(c)) {
                word = i + 1;
            }
            shorter.append(c);
        }
        return shorter.toString();
    }

    /** Whether a word before a dot is a part of a package's name: it begins in lower case. */
    private static boolean isPackage(String text, int from, int to) {
        return from < to && Character.isLowerCase(text.charAt(from));
    }
}
