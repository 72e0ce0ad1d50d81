package dev.rackcall.rpc.schema;

import dev.rackcall.rpc.Isolation;
import dev.rackcall.rpc.spi.ServedInterface;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * One version of a service, parsed from its description. The description may come from a hostile peer: its size and
 * nesting are bounded, and a description with a wrong fingerprint is refused.
 *
 * @param methods by name and parameter types, in index order
 * @param types records, enums, shared types and others, by name
 * @param registered the lines of the classes that travel by Kryo
 */
record Schema(Map<String, Method> methods, Map<String, Described> types, List<String> registered) {
    /** Maximum characters of a description; a hello does not carry more. */
    static final int MAX_CHARS = 1 << 20;

    private static final int MAX_LINES = 20_000;
    private static final long FNV_OFFSET_BASIS = 0xcbf29ce484222325L;
    private static final long FNV_PRIME = 0x100000001b3L;

    /**
     * A parameter or a component.
     *
     * @param ifMissing a component's default, as text
     */
    record Part(TypeName type, String name, Optional<String> ifMissing) {}

    /**
     * A method.
     *
     * @param kind the constant of {@code MethodDescriptor.Kind}, in lower case, with {@code _writes} if its handler may
     *     store into arguments
     * @param isolation that it demands of shared arguments
     */
    record Method(int index, String kind, TypeName returns, String name, List<Part> parameters, Isolation isolation) {
        /** Ends the kind of a method whose handler may store into arguments. */
        static final String WRITES = "_writes";

        /** Tells overloads apart. */
        String key() {
            return name
                    + parameters.stream()
                            .map(parameter -> parameter.type().toString())
                            .collect(Collectors.joining(", ", "(", ")"));
        }

        /** The types of what a request contains. */
        List<TypeName> arguments() {
            return parameters.stream()
                    .map(Part::type)
                    .filter(type -> !isStream(type))
                    .toList();
        }

        /** The type of each element that the caller sends; empty if it sends no stream. */
        List<TypeName> elements() {
            return parameters.stream()
                    .map(Part::type)
                    .filter(Method::isStream)
                    .map(type -> type.argument(0))
                    .toList();
        }

        private static boolean isStream(TypeName type) {
            return type.name().equals("java.util.stream.Stream")
                    && type.arguments().size() == 1;
        }

        private Method with(Isolation demanded) {
            return new Method(index, kind, returns, name, parameters, demanded);
        }

        /** How its calls travel; a synchronous and an asynchronous call look alike to the other end. */
        String shape() {
            return kind.replaceFirst("^async", "unary");
        }

        /** The type that is sent back, once or for each element; {@code void} if nothing is. */
        TypeName result() {
            boolean isWrapped = kind.startsWith("async") || kind.equals("server_stream") || kind.equals("bidi_stream");
            TypeName sent = isWrapped && returns.arguments().size() == 1 ? returns.argument(0) : returns;
            return sent.name().equals("Void") ? new TypeName("void", List.of()) : sent;
        }

        /** For people. */
        String text() {
            return returns.simple() + " " + name
                    + parameters.stream()
                            .map(parameter -> parameter.type().simple() + " " + parameter.name())
                            .collect(Collectors.joining(", ", "(", ")"));
        }
    }

    /** A type with a line of its own. */
    sealed interface Described {
        String line();

        /** The types in its line. Here every word of it may be one. */
        default List<TypeName> mentions() {
            return Pattern.compile("[^\\p{javaJavaIdentifierPart}.]+")
                    .splitAsStream(line())
                    .map(word -> new TypeName(word, List.of()))
                    .toList();
        }
    }

    record RecordType(String line, List<Part> components) implements Described {
        @Override
        public List<TypeName> mentions() {
            return components.stream().map(Part::type).toList();
        }
    }

    /** A sealed interface. */
    record OneOf(String line, List<TypeName> cases) implements Described {
        @Override
        public List<TypeName> mentions() {
            return cases;
        }
    }

    record EnumType(String line, List<String> constants) implements Described {
        @Override
        public List<TypeName> mentions() {
            return List.of();
        }
    }

    record SharedLayout(String line, String layout) implements Described {}

    /** A kind of type that this release does not convert; it may be equal. */
    record OtherType(String line) implements Described {}

    /**
     * Parses the description of one end.
     *
     * @throws MalformedSchemaException if it cannot be read, or does not match the fingerprint
     */
    static Schema of(ServedInterface service) {
        String description = service.description();
        if (description.length() > MAX_CHARS || fingerprint(description) != service.fingerprint()) {
            throw new MalformedSchemaException("its description of " + description.length()
                    + " characters is not the whole one: a hello carries up to " + MAX_CHARS
                    + ", fewer if they compress badly");
        }
        return parse(description);
    }

    /** FNV-1a over UTF-8, as the annotation processor computes it. */
    private static long fingerprint(String description) {
        long hash = FNV_OFFSET_BASIS;
        for (byte b : description.getBytes(StandardCharsets.UTF_8)) {
            hash = (hash ^ (b & 0xff)) * FNV_PRIME;
        }
        return hash;
    }

    static Schema parse(String description) {
        Map<String, Method> methods = new LinkedHashMap<>();
        List<String> keys = new ArrayList<>();
        Map<String, Described> types = new LinkedHashMap<>();
        List<String> registered = new ArrayList<>();
        List<String> lines = description.lines().limit(MAX_LINES + 1L).toList();
        if (lines.size() > MAX_LINES) {
            throw new MalformedSchemaException("its description has more than " + MAX_LINES + " lines");
        }
        for (String line : lines) {
            SchemaReader in = new SchemaReader(line);
            if (!line.isEmpty() && line.charAt(0) >= '0' && line.charAt(0) <= '9') {
                Method method = method(in);
                if (method.index() != methods.size() || methods.put(method.key(), method) != null) {
                    throw in.malformed("the number or the name of a method comes twice");
                }
                keys.add(method.key());
            } else if (in.take("isolation ")) {
                int index = in.number();
                if (index >= keys.size()) {
                    throw in.malformed("there is no such method");
                }
                in.expect(" ");
                Isolation demanded = isolation(in.rest());
                methods.computeIfPresent(keys.get(index), (_, method) -> method.with(demanded));
            } else if (in.take("record ")) {
                String name = in.type().toString();
                types.put(name, new RecordType(line, in.parts()));
            } else if (in.take("oneof ")) {
                String name = in.type().toString();
                types.put(name, new OneOf(line, in.cases()));
            } else if (in.take("enum ")) {
                String name = in.name();
                types.put(name, new EnumType(line, in.constants()));
            } else if (in.take("shared ")) {
                String layout = in.rest();
                String name = in.name();
                types.put(name, new SharedLayout(line, layout));
            } else if (in.take("registered ")) {
                registered.add(line);
            } else if (!in.take("service ")) {
                in.name();
                in.expect(" ");
                types.put(in.name(), new OtherType(line));
            }
        }
        return new Schema(methods, types, List.copyOf(registered));
    }

    private static Method method(SchemaReader in) {
        int index = in.number();
        in.expect(" ");
        String kind = in.name();
        in.expect(" ");
        TypeName returns = in.type();
        in.expect(" ");
        String name = in.name();
        return new Method(index, kind, returns, name, in.parts(), Isolation.TRUSTED);
    }

    /** Reads an unknown mode as {@link Isolation#AUTO}, which satisfies every demand for isolation. */
    private static Isolation isolation(String name) {
        return Arrays.stream(Isolation.values())
                .filter(mode -> mode.isSafe() && mode.name().equals(name))
                .findFirst()
                .orElse(Isolation.AUTO);
    }

    /** The described types that a type mentions, directly and through others. Not recursive: a peer chose the depth. */
    Set<String> reach(TypeName type) {
        Set<String> reached = new LinkedHashSet<>();
        List<TypeName> open = new ArrayList<>(List.of(type));
        while (!open.isEmpty()) {
            TypeName next = open.removeLast();
            open.addAll(next.arguments());
            Described found = types.get(next.toString());
            if (found != null && reached.add(next.toString())) {
                open.addAll(found.mentions());
            }
        }
        return reached;
    }
}
