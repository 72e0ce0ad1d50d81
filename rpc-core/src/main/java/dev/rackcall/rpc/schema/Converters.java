package dev.rackcall.rpc.schema;

import dev.rackcall.rpc.schema.Schema.Described;
import dev.rackcall.rpc.schema.Schema.EnumType;
import dev.rackcall.rpc.schema.Schema.OneOf;
import dev.rackcall.rpc.schema.Schema.Part;
import dev.rackcall.rpc.schema.Schema.RecordType;
import dev.rackcall.rpc.schema.Schema.SharedLayout;
import dev.rackcall.shm.codec.PayloadWriter;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

/** Builds converters from one schema to another. The schemas were compared before, so matched types are compatible. */
final class Converters {
    /** A type whose encoding this release cannot rewrite. */
    static final class UnknownFormException extends Exception {
        private static final long serialVersionUID = 1L;

        UnknownFormException(String message) {
            super(message);
        }
    }

    /** Maximum nesting of types; building is recursive, and a peer chose the types. */
    private static final int MAX_DEPTH = 200;

    private static final Map<String, Integer> FIXED = Map.ofEntries(
            Map.entry("boolean", 1),
            Map.entry("byte", 1),
            Map.entry("short", 2),
            Map.entry("char", 2),
            Map.entry("int", 4),
            Map.entry("float", 4),
            Map.entry("long", 8),
            Map.entry("double", 8),
            Map.entry("java.util.UUID", 16),
            Map.entry("java.time.Duration", 12),
            Map.entry("java.time.Instant", 12),
            Map.entry("java.time.LocalDate", 8),
            Map.entry("java.time.LocalTime", 8),
            Map.entry("java.time.LocalDateTime", 16),
            Map.entry("java.time.OffsetDateTime", 20),
            Map.entry("java.time.OffsetTime", 12),
            Map.entry("java.time.ZoneOffset", 4),
            Map.entry("java.time.Period", 12),
            Map.entry("java.time.Year", 4),
            Map.entry("java.time.YearMonth", 8),
            Map.entry("java.time.MonthDay", 8));

    private static final Set<String> INTEGERS = Set.of("byte", "short", "int", "long");
    private static final Set<String> COUNTED =
            Set.of(TypeName.ARRAY, "java.util.List", "java.util.Set", "java.util.Map");
    private static final Converter TEXT = new Converter.Counted(1);
    private static final Converter REF = new Converter.Bytes(Long.BYTES);

    private final Schema from;
    private final Schema to;

    /** Those begun and those complete, by the names of both sides. */
    private final Map<String, Converter.Steps> records = new HashMap<>();

    private final Map<String, Converter> built = new HashMap<>();
    private int depth;

    Converters(Schema from, Schema to) {
        this.from = from;
        this.to = to;
    }

    static boolean isInteger(TypeName type) {
        return INTEGERS.contains(type.name());
    }

    /** A converter of several values that follow one another. */
    Converter ofAll(List<TypeName> here, List<TypeName> there) throws UnknownFormException {
        Converter.Steps all = new Converter.Steps("arguments");
        List<Converter> steps = new ArrayList<>();
        for (int i = 0; i < here.size(); i++) {
            add(steps, of(here.get(i), there.get(i)));
        }
        all.set(steps);
        return all;
    }

    Converter of(TypeName here, TypeName there) throws UnknownFormException {
        if (++depth > MAX_DEPTH) {
            throw new UnknownFormException("types are nested more than " + MAX_DEPTH + " deep");
        }
        try {
            return build(here.unboxed(), there.unboxed());
        } finally {
            depth--;
        }
    }

    private Converter build(TypeName here, TypeName there) throws UnknownFormException {
        if (here.isArray()) {
            return elements(arguments(here, there, 1));
        }
        Described described = from.types().get(here.toString());
        if (described != null) {
            return described(here, described, there, to.types().get(there.toString()));
        }
        Integer bytes = FIXED.get(here.name());
        if (bytes != null) {
            return here.equals(there)
                    ? new Converter.Bytes(bytes)
                    : new Converter.Resized(bytes, FIXED.get(there.name()));
        }
        return switch (here.name()) {
            case "String",
                    "java.math.BigInteger",
                    "java.time.ZoneId",
                    "java.net.URI",
                    "java.util.Currency",
                    "java.util.Locale" -> TEXT;
            case "java.math.BigDecimal" -> textBehind("BigDecimal", Integer.BYTES);
            case "java.time.ZonedDateTime" -> textBehind("ZonedDateTime", FIXED.get("java.time.OffsetDateTime"));
            case "java.util.Optional" ->
                new Converter.Maybe(arguments(here, there, 1).getFirst());
            case "java.util.List", "java.util.Set" -> elements(arguments(here, there, 1));
            case "java.util.Map" -> elements(arguments(here, there, 2));
            default -> registered(here);
        };
    }

    /** The converters of the type arguments. A peer's description may give a type any number of them. */
    private List<Converter> arguments(TypeName here, TypeName there, int count) throws UnknownFormException {
        if (here.arguments().size() != count || there.arguments().size() != count) {
            throw new UnknownFormException("the type " + here.simple() + " has other type arguments than it should");
        }
        List<Converter> converters = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            converters.add(of(here.argument(i), there.argument(i)));
        }
        return converters;
    }

    private static Converter elements(List<Converter> parts) {
        int bytes = 0;
        for (Converter part : parts) {
            if (!(part instanceof Converter.Bytes fixed)) {
                return new Converter.Elements(parts);
            }
            bytes = Math.addExact(bytes, fixed.count());
        }
        return new Converter.Counted(bytes);
    }

    private static Converter textBehind(String type, int bytes) {
        Converter.Steps steps = new Converter.Steps(type);
        steps.set(List.of(new Converter.Bytes(bytes), TEXT));
        return steps;
    }

    /** An object of a registered class travels as its length and its bytes. */
    private Converter registered(TypeName type) throws UnknownFormException {
        if (from.registered().isEmpty()
                || type.name().startsWith("java.")
                || !type.arguments().isEmpty()) {
            throw new UnknownFormException("the type " + type.simple()
                    + " is passed beside one that differs, and Rackcall" + " cannot step over it");
        }
        return TEXT;
    }

    private Converter described(TypeName here, Described mine, TypeName there, Described theirs)
            throws UnknownFormException {
        if (theirs == null || theirs.getClass() != mine.getClass()) {
            // A peer may describe anything, also a type of the JDK.
            throw new UnknownFormException("only one side describes the type " + here.simple() + " in this way");
        }
        return switch (mine) {
            case SharedLayout shared -> REF;
            case EnumType constants -> constants(here, constants, (EnumType) theirs);
            case RecordType type ->
                steps(here, there, () -> steps(type.components(), ((RecordType) theirs).components()));
            case OneOf type -> steps(here, there, () -> List.of(cases(here, type.cases(), ((OneOf) theirs).cases())));
            case Schema.OtherType other ->
                throw new UnknownFormException("Rackcall does not convert '" + TypeName.simple(other.line()) + "'");
        };
    }

    private static Converter constants(TypeName name, EnumType here, EnumType there) {
        if (here.constants().equals(there.constants())) {
            return new Converter.Bytes(Integer.BYTES);
        }
        return new Converter.Numbered(
                name.simple(),
                here.constants().stream()
                        .map(constant -> name.simple() + "." + constant)
                        .toList(),
                numbers(here.constants(), there.constants()),
                List.of());
    }

    private static List<OptionalInt> numbers(List<String> here, List<String> there) {
        return here.stream()
                .map(there::indexOf)
                .map(number -> number < 0 ? OptionalInt.empty() : OptionalInt.of(number))
                .toList();
    }

    private Converter cases(TypeName name, List<TypeName> here, List<TypeName> there) throws UnknownFormException {
        List<String> names = here.stream().map(TypeName::name).toList();
        List<OptionalInt> numbers =
                numbers(names, there.stream().map(TypeName::name).toList());
        List<Converter> cases = new ArrayList<>();
        for (int i = 0; i < here.size(); i++) {
            cases.add(
                    numbers.get(i).isPresent()
                            ? of(here.get(i), there.get(numbers.get(i).getAsInt()))
                            : skipping(here.get(i)));
        }
        return new Converter.Numbered(
                name.simple(), names.stream().map(TypeName::simple).toList(), numbers, cases);
    }

    /** Makes the steps of a described type. */
    private interface Making {
        List<Converter> steps() throws UnknownFormException;
    }

    /** A described type that may contain itself. */
    private Converter steps(TypeName name, TypeName there, Making making) throws UnknownFormException {
        // The key has both types: a generic record may be used twice, and the other side may have changed the type
        // argument of one use only.
        String key = name + " -> " + there;
        Converter known = built.get(key);
        if (known != null) {
            return known;
        }
        Converter.Steps open = records.get(key);
        if (open != null) {
            open.contained();
            return open;
        }
        Converter.Steps made = new Converter.Steps(name.simple());
        records.put(key, made);
        List<Converter> steps = making.steps();
        made.set(steps);
        Converter result = steps.size() == 1 && steps.getFirst() instanceof Converter.Bytes whole ? whole : made;
        built.put(key, result);
        return result;
    }

    /** Components are matched by name; both sides have the common ones in the same order. */
    private List<Converter> steps(List<Part> here, List<Part> there) throws UnknownFormException {
        List<Converter> steps = new ArrayList<>();
        if (here.isEmpty()) {
            add(steps, new Converter.Skipped(new Converter.Bytes(1)));
        }
        int next = 0;
        for (Part part : here) {
            int at = indexOf(there, part.name());
            if (at < 0) {
                add(steps, new Converter.Skipped(skipping(part.type())));
                continue;
            }
            for (; next < at; next++) {
                add(steps, missing(there.get(next)));
            }
            add(steps, of(part.type(), there.get(at).type()));
            next = at + 1;
        }
        for (; next < there.size(); next++) {
            add(steps, missing(there.get(next)));
        }
        if (there.isEmpty()) {
            add(steps, Converter.Constant.ABSENT);
        }
        return steps;
    }

    /** A converter that only skips, for a type that the other side may not have. */
    private Converter skipping(TypeName type) throws UnknownFormException {
        return new Converters(from, from).of(type, type);
    }

    /** Writes a component that only the receiver has. */
    private Converter missing(Part part) throws UnknownFormException {
        if (part.ifMissing().isEmpty()) {
            return Converter.Constant.ABSENT;
        }
        String text = part.ifMissing().get();
        try {
            return new Converter.Constant(constant(part.type().unboxed(), text));
        } catch (IllegalArgumentException e) {
            throw new UnknownFormException("'" + text + "' is not a value for component '"
                    + part.type().simple() + " " + part.name() + "'");
        }
    }

    private Consumer<PayloadWriter> constant(TypeName type, String text) {
        if (to.types().get(type.toString()) instanceof EnumType constants) {
            int number = constants.constants().indexOf(text);
            requireFit(number >= 0);
            return writing(number, PayloadWriter::writeInt);
        }
        return switch (type.name()) {
            case "boolean" -> writing(Boolean.valueOf(text), PayloadWriter::writeBoolean);
            case "byte" -> writing(Byte.valueOf(text), PayloadWriter::writeByte);
            case "short" -> writing(Short.valueOf(text), PayloadWriter::writeShort);
            case "char" -> {
                requireFit(text.length() == 1);
                yield writing(text.charAt(0), PayloadWriter::writeChar);
            }
            case "int" -> writing(Integer.valueOf(text), PayloadWriter::writeInt);
            case "long" -> writing(Long.valueOf(text), PayloadWriter::writeLong);
            case "float" -> writing(Float.valueOf(text), PayloadWriter::writeFloat);
            case "double" -> writing(Double.valueOf(text), PayloadWriter::writeDouble);
            case "String" -> out -> out.writeString(text, "a default");
            default -> {
                requireFit(text.isEmpty() && COUNTED.contains(type.name()));
                yield writing(0, PayloadWriter::writeCount);
            }
        };
    }

    private static <T> Consumer<PayloadWriter> writing(T value, BiConsumer<PayloadWriter, T> write) {
        return out -> write.accept(out, value);
    }

    private static void requireFit(boolean fits) {
        if (!fits) {
            throw new IllegalArgumentException();
        }
    }

    private static int indexOf(List<Part> parts, String name) {
        Optional<Part> found =
                parts.stream().filter(part -> part.name().equals(name)).findFirst();
        return found.map(parts::indexOf).orElse(-1);
    }

    /** Adds a step; two that copy bytes become one. */
    private static void add(List<Converter> steps, Converter step) {
        if (!steps.isEmpty()
                && steps.getLast() instanceof Converter.Bytes before
                && step instanceof Converter.Bytes more) {
            steps.set(steps.size() - 1, new Converter.Bytes(Math.addExact(before.count(), more.count())));
        } else {
            steps.add(step);
        }
    }
}
