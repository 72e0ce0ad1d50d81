package dev.rackcall.rpc.schema;

import dev.rackcall.rpc.schema.Schema.Part;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Reads one line of a description from left to right. The line may come from a hostile peer. */
final class SchemaReader {
    /** Maximum depth of type arguments; parsing is recursive. */
    private static final int MAX_DEPTH = 32;
    /** The processor's limit. */
    private static final int MAX_DEFAULT = 1000;

    private final String line;
    private int at;

    SchemaReader(String line) {
        this.line = line;
    }

    MalformedSchemaException malformed(String what) {
        return new MalformedSchemaException(
                what + " at " + at + " of '" + line.substring(0, Math.min(200, line.length())) + "'");
    }

    boolean atEnd() {
        return at == line.length();
    }

    boolean take(String expected) {
        boolean is = line.startsWith(expected, at);
        if (is) {
            at += expected.length();
        }
        return is;
    }

    void expect(String expected) {
        if (!take(expected)) {
            throw malformed("'" + expected + "' is missing");
        }
    }

    int number() {
        int from = at;
        while (at < line.length() && at - from < 9 && line.charAt(at) >= '0' && line.charAt(at) <= '9') {
            at++;
        }
        if (at == from) {
            throw malformed("a number is missing");
        }
        return Integer.parseInt(line.substring(from, at));
    }

    /** A Java name, possibly qualified. */
    String name() {
        int from = at;
        while (at < line.length()
                && (Character.isJavaIdentifierPart(line.charAt(at)) || line.charAt(at) == '.')
                && line.charAt(at) != 0) {
            at++;
        }
        if (at == from) {
            throw malformed("a name is missing");
        }
        return line.substring(from, at);
    }

    TypeName type() {
        return type(0);
    }

    private TypeName type(int depth) {
        if (depth > MAX_DEPTH) {
            throw malformed("a type is nested more than " + MAX_DEPTH + " deep");
        }
        String name = name();
        List<TypeName> arguments = new ArrayList<>();
        if (take("<")) {
            do {
                arguments.add(type(depth + 1));
            } while (take(", "));
            expect(">");
        }
        TypeName type = TypeName.of(name, List.copyOf(arguments));
        for (int dimensions = depth; take(TypeName.ARRAY); dimensions++) {
            if (dimensions > MAX_DEPTH) {
                throw malformed("a type is nested more than " + MAX_DEPTH + " deep");
            }
            type = TypeName.arrayOf(type);
        }
        return type;
    }

    /** {@code (int x, String name)}, which ends the line. */
    List<Part> parts() {
        expect("(");
        List<Part> parts = new ArrayList<>();
        if (!take(")")) {
            do {
                TypeName type = type();
                expect(" ");
                String name = name();
                parts.add(new Part(type, name, take(" = \"") ? Optional.of(quoted()) : Optional.empty()));
            } while (take(", "));
            expect(")");
        }
        if (!atEnd()) {
            throw malformed("the line goes on");
        }
        return List.copyOf(parts);
    }

    /** The rest of {@code "text"}, in which {@code \\u000a} stands for a character. */
    private String quoted() {
        StringBuilder text = new StringBuilder();
        while (!take("\"")) {
            if (atEnd() || text.length() == MAX_DEFAULT) {
                throw malformed("a default has no end or more than " + MAX_DEFAULT + " characters");
            }
            if (take("\\u")) {
                int end = Math.min(at + 4, line.length());
                try {
                    text.append((char) Integer.parseUnsignedInt(line.substring(at, end), 16));
                } catch (NumberFormatException e) {
                    throw malformed("a character is not 4 hexadecimal digits");
                }
                at = end;
            } else {
                text.append(line.charAt(at));
                at++;
            }
        }
        return text.toString();
    }

    /** {@code {shop.Circle, shop.Square}}, which ends the line. */
    List<TypeName> cases() {
        expect("{");
        List<TypeName> cases = new ArrayList<>();
        do {
            cases.add(type());
        } while (take(", "));
        expect("}");
        return List.copyOf(cases);
    }

    /** {@code {RED, GREEN}}, which ends the line. */
    List<String> constants() {
        expect("{");
        List<String> constants = new ArrayList<>();
        if (!take("}")) {
            do {
                constants.add(name());
            } while (take(", "));
            expect("}");
        }
        return List.copyOf(constants);
    }

    String rest() {
        return line.substring(at);
    }
}
