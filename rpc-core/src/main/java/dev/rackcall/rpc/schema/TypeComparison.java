package dev.rackcall.rpc.schema;

import dev.rackcall.rpc.schema.Compatibility.Sides;
import dev.rackcall.rpc.schema.Schema.Described;
import dev.rackcall.rpc.schema.Schema.EnumType;
import dev.rackcall.rpc.schema.Schema.OneOf;
import dev.rackcall.rpc.schema.Schema.OtherType;
import dev.rackcall.rpc.schema.Schema.Part;
import dev.rackcall.rpc.schema.Schema.RecordType;
import dev.rackcall.rpc.schema.Schema.SharedLayout;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Compares the types that methods of both schemas mention, each pair once. */
final class TypeComparison {
    /** Takes the differences. */
    interface Differences {
        void add(boolean breaks, String what);
    }

    private final Schema mine;
    private final Schema theirs;
    private final Sides sides;
    private final Differences differences;
    private final Set<Pair> compared = new HashSet<>();
    /** Described types still to be compared. A queue, not recursion, because a peer chose the depth. */
    private final Deque<Pair> open = new ArrayDeque<>();
    /** This side's types by name whose encoded values differ, directly. */
    private final Set<String> changed = new HashSet<>();

    /** The names of a described type at both sides, which differ in type arguments only. */
    private record Pair(String here, String there) {}

    TypeComparison(Schema mine, Schema theirs, Sides sides, Differences differences) {
        this.mine = mine;
        this.theirs = theirs;
        this.sides = sides;
        this.differences = differences;
    }

    /** @param where the type is used, for messages */
    void compare(TypeName here, TypeName there, String where) {
        match(here, there, where);
        while (!open.isEmpty()) {
            Pair pair = open.remove();
            described(
                    TypeName.simple(pair.here()),
                    pair.here(),
                    mine.types().get(pair.here()),
                    theirs.types().get(pair.there()));
        }
    }

    /** Whether values of these types have the same bytes in both versions. */
    boolean areEncodedAlike(List<TypeName> here, List<TypeName> there) {
        for (int i = 0; i < here.size(); i++) {
            if (!here.get(i).unboxed().equals(there.get(i).unboxed())
                    || mine.reach(here.get(i)).stream().anyMatch(changed::contains)) {
                return false;
            }
        }
        return true;
    }

    /** The parser bounds the depth of this recursion. */
    private void match(TypeName boxedHere, TypeName boxedThere, String where) {
        TypeName here = boxedHere.unboxed();
        TypeName there = boxedThere.unboxed();
        if (!here.name().equals(there.name())
                || here.arguments().size() != there.arguments().size()) {
            if (Converters.isInteger(here) && Converters.isInteger(there)) {
                differences.add(
                        false,
                        where + " is " + here + " " + sides.here() + " and " + there + " " + sides.there()
                                + ": a call with a number that does not fit fails");
            } else {
                differences.add(
                        true,
                        where + " is " + boxedHere.simple() + " " + sides.here() + " and " + boxedThere.simple() + " "
                                + sides.there() + ": a type stays, but for integers of another width");
            }
            return;
        }
        Pair pair = new Pair(here.toString(), there.toString());
        if (mine.types().containsKey(pair.here()) || theirs.types().containsKey(pair.there())) {
            enqueue(pair);
            return;
        }
        for (int i = 0; i < here.arguments().size(); i++) {
            match(here.argument(i), there.argument(i), where);
        }
    }

    /** Whether values of one type can be converted to the other, except for numbers that do not fit. */
    static boolean differInWidthAtMost(TypeName boxedHere, TypeName boxedThere) {
        TypeName here = boxedHere.unboxed();
        TypeName there = boxedThere.unboxed();
        if (!here.name().equals(there.name())
                || here.arguments().size() != there.arguments().size()) {
            return Converters.isInteger(here) && Converters.isInteger(there);
        }
        return IntStream.range(0, here.arguments().size())
                .allMatch(i -> differInWidthAtMost(here.argument(i), there.argument(i)));
    }

    private void enqueue(Pair pair) {
        if (compared.add(pair)) {
            open.add(pair);
        }
    }

    private void described(String simple, String name, Described here, Described there) {
        if (here instanceof RecordType mineRecord && there instanceof RecordType theirRecord) {
            record(simple, name, mineRecord.components(), theirRecord.components());
        } else if (here instanceof EnumType mineEnum && there instanceof EnumType theirEnum) {
            constants(simple, name, mineEnum.constants(), theirEnum.constants());
        } else if (here instanceof OneOf mineCases && there instanceof OneOf theirCases) {
            cases(simple, name, mineCases.cases(), theirCases.cases());
        } else if (here instanceof SharedLayout mineLayout && there instanceof SharedLayout theirLayout) {
            layouts(simple, name, mineLayout, theirLayout);
        } else if (here instanceof OtherType
                && there instanceof OtherType
                && here.line().equals(there.line())) {
            mine.reach(new TypeName(name, List.of())).forEach(each -> enqueue(new Pair(each, each)));
        } else {
            differences.add(
                    true,
                    simple + " is " + text(here) + " " + sides.here() + " and " + text(there) + " " + sides.there()
                            + ": keep the old type, and pass the new one by another method");
        }
    }

    private static String text(Described type) {
        return type == null ? "not described" : "'" + TypeName.simple(type.line()) + "'";
    }

    // ---- records

    private void record(String simple, String name, List<Part> here, List<Part> there) {
        Map<String, Part> mineByName = byName(here);
        Map<String, Part> theirsByName = byName(there);
        List<String> order =
                here.stream().map(Part::name).filter(theirsByName::containsKey).toList();
        List<String> orderThere =
                there.stream().map(Part::name).filter(mineByName::containsKey).toList();
        if (!order.equals(orderThere)) {
            differences.add(
                    true,
                    "record " + simple + " has its components in the order " + order + " " + sides.here() + " and "
                            + orderThere + " " + sides.there() + ": keep the order");
            return;
        }
        if (order.size() != here.size() || order.size() != there.size()) {
            changed.add(name);
        }
        here.stream()
                .filter(part -> !theirsByName.containsKey(part.name()))
                .forEach(part -> only(simple, part, sides.here()));
        there.stream()
                .filter(part -> !mineByName.containsKey(part.name()))
                .forEach(part -> only(simple, part, sides.there()));
        for (String component : order) {
            TypeName mineType = mineByName.get(component).type();
            TypeName theirType = theirsByName.get(component).type();
            if (!mineType.unboxed().equals(theirType.unboxed())) {
                changed.add(name);
            }
            match(mineType, theirType, "component " + component + " of record " + simple);
            if (!mineByName
                    .get(component)
                    .ifMissing()
                    .equals(theirsByName.get(component).ifMissing())) {
                differences.add(
                        false,
                        "component " + component + " of record " + simple
                                + " has another @Default: it only counts for versions that lack the component");
            }
        }
    }

    private void only(String record, Part part, String where) {
        String component = "component '" + part.type().simple() + " " + part.name() + "' of record " + record;
        if (part.type().isOptional() || part.ifMissing().isPresent()) {
            differences.add(
                    false,
                    component + " exists only " + where + ": in a record of the other side it is "
                            + part.ifMissing().map(text -> "'" + text + "'").orElse("empty")
                            + ", and it is left out on the way there");
        } else {
            differences.add(
                    true,
                    component + " exists only " + where
                            + ", so there is no value for it in a record of the other side: "
                            + "give it a value by @Default, or make it Optional<" + box(part.type()) + ">");
        }
    }

    private static String box(TypeName type) {
        return switch (type.name()) {
            case "int" -> "Integer";
            case "char" -> "Character";
            case "boolean", "byte", "short", "long", "float", "double" ->
                Character.toUpperCase(type.name().charAt(0)) + type.name().substring(1);
            default -> type.simple();
        };
    }

    private static Map<String, Part> byName(List<Part> parts) {
        Map<String, Part> byName = new LinkedHashMap<>();
        parts.forEach(part -> byName.put(part.name(), part));
        return byName;
    }

    // ---- sealed interfaces

    private void cases(String simple, String name, List<TypeName> here, List<TypeName> there) {
        List<String> names = here.stream().map(TypeName::name).toList();
        List<String> namesThere = there.stream().map(TypeName::name).toList();
        if (!here.equals(there)) {
            changed.add(name);
        }
        if (Set.copyOf(names).size() < names.size() || Set.copyOf(namesThere).size() < namesThere.size()) {
            if (!here.equals(there)) {
                differences.add(
                        true,
                        "sealed interface " + simple
                                + " has several cases of one generic class, and they differ: keep them as they were");
            }
            return;
        }
        onlyHas("sealed interface " + simple, simple(minus(names, namesThere)), sides.here());
        onlyHas("sealed interface " + simple, simple(minus(namesThere, names)), sides.there());
        for (TypeName mineCase : here) {
            int at = namesThere.indexOf(mineCase.name());
            if (at >= 0) {
                match(mineCase, there.get(at), "a case of sealed interface " + simple);
            }
        }
    }

    private static List<String> simple(List<String> names) {
        return names.stream().map(TypeName::simple).toList();
    }

    // ---- enums

    private void constants(String simple, String name, List<String> here, List<String> there) {
        if (here.equals(there)) {
            return;
        }
        changed.add(name);
        onlyHas("enum " + simple, minus(here, there), sides.here());
        onlyHas("enum " + simple, minus(there, here), sides.there());
        if (minus(here, there).isEmpty() && minus(there, here).isEmpty()) {
            differences.add(false, "enum " + simple + " has its constants in another order: they meet by name");
        }
    }

    private void onlyHas(String type, List<String> values, String where) {
        if (!values.isEmpty()) {
            differences.add(
                    false,
                    type + " has " + String.join(", ", values) + " only " + where
                            + ": a call that passes it to the other side fails");
        }
    }

    private static List<String> minus(List<String> some, List<String> others) {
        return some.stream().filter(each -> !others.contains(each)).toList();
    }

    // ---- shared types

    /** Both ends use the same memory, so nothing can be converted: the older layout must be a part of the newer one. */
    private void layouts(String simple, String name, SharedLayout here, SharedLayout there) {
        if (!here.layout().equals(there.layout())) {
            SharedVersions mineVersions = SharedVersions.of(here.layout());
            SharedVersions theirVersions = SharedVersions.of(there.layout());
            if (!mineVersions.agreesWith(theirVersions)) {
                differences.add(
                        true,
                        "shared type " + simple + " is " + TypeName.simple(here.layout()) + " " + sides.here() + " and "
                                + TypeName.simple(there.layout()) + " " + sides.there()
                                + ": both sides use the same memory, so fields keep their types and widths and can only be"
                                + " added, with a higher @Since, and constants at the end of an enum");
            } else if (mineVersions.count() != theirVersions.count()) {
                boolean isHere = mineVersions.count() > theirVersions.count();
                differences.add(
                        false,
                        "shared type " + simple + " has fields with a higher @Since only "
                                + (isHere ? sides.here() : sides.there())
                                + ": in objects of the other side they read as absent and cannot be written");
            } else {
                differences.add(
                        false,
                        "an enum in shared type " + simple + " has more constants on one side:"
                                + " the other side cannot read them");
            }
        }
        List<String> reached = new ArrayList<>(mine.reach(new TypeName(name, List.of())));
        reached.stream()
                .filter(each -> mine.types().get(each) instanceof SharedLayout)
                .collect(Collectors.toCollection(ArrayList::new))
                .forEach(each -> {
                    // A type that only the newer side's new fields mention has no counterpart.
                    if (theirs.types().containsKey(each)) {
                        enqueue(new Pair(each, each));
                    }
                });
    }
}
