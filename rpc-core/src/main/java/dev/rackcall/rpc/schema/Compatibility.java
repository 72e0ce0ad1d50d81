package dev.rackcall.rpc.schema;

import dev.rackcall.rpc.schema.Schema.Method;
import dev.rackcall.rpc.schema.Schema.Part;
import dev.rackcall.rpc.spi.ServedInterface;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;

/**
 * The differences between two versions of a service, and whether a client of one can call a server of the other. The
 * answer is the same in both directions. The rules are in docs/evolution.md. Immutable.
 */
public final class Compatibility {
    /**
     * What the two versions are called in messages.
     *
     * @param here for example {@code here}, or {@code in the new version}
     * @param there for example {@code at its server}, or {@code in the old version}
     */
    public record Sides(String here, String there) {}

    /**
     * One difference.
     *
     * @param breaks whether it keeps the two versions from calling each other
     * @param what the difference and its consequence
     */
    public record Difference(boolean breaks, String what) {
        @Override
        public String toString() {
            return what;
        }
    }

    /** Converters of a method's calls; null if nothing needs converting. */
    record Plan(
            Method there, Optional<Converter> arguments, Optional<Converter> elements, Optional<Converter> result) {}

    private final List<Difference> differences;
    private final Map<Integer, Plan> plans;

    private Compatibility(List<Difference> differences, Map<Integer, Plan> plans) {
        this.differences = List.copyOf(differences);
        this.plans = Map.copyOf(plans);
    }

    /** Compares two versions of a service. Never fails: a description that cannot be read is a difference, too. */
    public static Compatibility of(ServedInterface here, ServedInterface there, Sides sides) {
        Schema mine;
        Schema theirs;
        try {
            mine = Schema.of(here);
            theirs = Schema.of(there);
        } catch (MalformedSchemaException e) {
            return new Compatibility(
                    List.of(new Difference(true, "the two cannot be compared: " + e.getMessage())), Map.of());
        }
        return new Comparing(mine, theirs, sides).run();
    }

    /** All differences, the ones that break first. */
    public List<Difference> differences() {
        return differences;
    }

    /** Whether a client and a server of the two versions can call each other. */
    public boolean holds() {
        return differences.stream().noneMatch(Difference::breaks);
    }

    /** What the calls of one of this side's methods need; empty if the other side has no such method. */
    Optional<Plan> plan(int method) {
        return Optional.ofNullable(plans.get(method));
    }

    private static final class Comparing {
        private final Schema mine;
        private final Schema theirs;
        private final Sides sides;
        private final TypeComparison types;
        private final Set<Difference> breaking = new LinkedHashSet<>();
        private final Set<Difference> compatible = new LinkedHashSet<>();

        Comparing(Schema mine, Schema theirs, Sides sides) {
            this.mine = mine;
            this.theirs = theirs;
            this.sides = sides;
            this.types = new TypeComparison(mine, theirs, sides, this::add);
        }

        private void add(boolean breaks, String what) {
            (breaks ? breaking : compatible).add(new Difference(breaks, what));
        }

        Compatibility run() {
            Map<Integer, Plan> plans = new LinkedHashMap<>();
            compareRegistered();
            Map<Method, Method> common = common();
            List<Method> lackedThere = minus(mine, common.keySet());
            List<Method> lackedHere = minus(theirs, common.values());
            lackedThere.forEach(method -> only(method, lackedHere, sides.here()));
            lackedHere.stream()
                    // A changed method is reported from this side already.
                    .filter(method -> namesake(method, lackedThere).isEmpty())
                    .forEach(method -> only(method, lackedThere, sides.there()));
            common.forEach(this::compare);
            if (breaking.isEmpty()) {
                common.forEach(
                        (method, other) -> plan(method, other).ifPresent(plan -> plans.put(method.index(), plan)));
            }
            List<Difference> all = new ArrayList<>(breaking);
            all.addAll(compatible);
            return new Compatibility(all, plans);
        }

        /**
         * The methods of both sides: those with the same name and parameters, and then those that are alone with their
         * name and differ in the width of integers, which are converted.
         */
        private Map<Method, Method> common() {
            Map<Method, Method> common = new LinkedHashMap<>();
            mine.methods().forEach((key, method) -> {
                if (theirs.methods().containsKey(key)) {
                    common.put(method, theirs.methods().get(key));
                }
            });
            List<Method> lackedThere = minus(mine, common.keySet());
            List<Method> lackedHere = minus(theirs, common.values());
            for (Method method : lackedThere) {
                List<Method> others = resembling(method, lackedHere);
                if (others.size() == 1
                        && resembling(others.getFirst(), lackedThere).size() == 1) {
                    common.put(method, others.getFirst());
                }
            }
            return common;
        }

        private static List<Method> minus(Schema schema, Collection<Method> some) {
            return schema.methods().values().stream()
                    .filter(method -> !some.contains(method))
                    .toList();
        }

        private static List<Method> resembling(Method method, List<Method> some) {
            List<Part> parameters = method.parameters();
            return some.stream()
                    .filter(other -> other.name().equals(method.name())
                            && other.parameters().size() == parameters.size()
                            && IntStream.range(0, parameters.size())
                                    .allMatch(i -> TypeComparison.differInWidthAtMost(
                                            parameters.get(i).type(),
                                            other.parameters().get(i).type())))
                    .toList();
        }

        private static Optional<Method> namesake(Method method, List<Method> some) {
            return some.stream()
                    .filter(other -> other.name().equals(method.name()))
                    .findFirst();
        }

        /** @param lacked the methods that this side lacks */
        private void only(Method method, List<Method> lacked, String where) {
            Optional<Method> changed = namesake(method, lacked);
            if (changed.isPresent()) {
                add(
                        true,
                        "method " + method.name() + " is '" + method.text() + "' " + where + " and '"
                                + changed.get().text() + "' " + sides.there()
                                + ": of parameters only the width of integers and names can change, so add another"
                                + " method and keep this one");
            } else {
                add(
                        false,
                        "method '" + method.text() + "' exists only " + where
                                + ": calls of it are UNIMPLEMENTED where it is missing");
            }
        }

        private void compare(Method here, Method there) {
            if (!here.shape().equals(there.shape())) {
                add(
                        true,
                        "method '" + here.text() + "' is " + words(here) + " " + sides.here() + " and " + words(there)
                                + " " + sides.there() + ": keep it as it was, and add another method");
                return;
            }
            for (int i = 0; i < here.parameters().size(); i++) {
                types.compare(
                        here.parameters().get(i).type(),
                        there.parameters().get(i).type(),
                        "parameter " + here.parameters().get(i).name() + " of " + here.name());
            }
            types.compare(here.result(), there.result(), "the result of " + here.name());
            if (here.isolation() != there.isolation()) {
                add(
                        false,
                        "the isolation of method '" + here.text() + "' is " + here.isolation() + " " + sides.here()
                                + " and " + there.isolation() + " " + sides.there() + ": calls between the two use "
                                + AdaptedMethod.stricter(here.isolation(), there.isolation()) + ", the stricter one");
            }
        }

        private static String words(Method method) {
            String words = switch (method.shape().replace(Method.WRITES, "")) {
                case "unary" -> "a call with an answer";
                case "one_way" -> "one-way";
                case "server_stream" -> "a stream";
                case "client_stream" -> "a call that sends a stream";
                case "bidi_stream" -> "a call that sends a stream and returns one";
                default -> method.kind();
            };
            return method.kind().endsWith(Method.WRITES)
                    ? words + " whose handler may store into its arguments (@Rpc(writes = true))"
                    : words;
        }

        private void compareRegistered() {
            List<String> here = mine.registered();
            List<String> there = theirs.registered();
            int common = Math.min(here.size(), there.size());
            if (!here.subList(0, common).equals(there.subList(0, common))) {
                add(
                        true,
                        "the registered classes differ: " + simple(here) + " " + sides.here() + " and " + simple(there)
                                + " " + sides.there()
                                + ": Kryo's format has no versions, so leave them alone, and add others at the end");
            } else if (here.size() != there.size()) {
                boolean isHere = here.size() > there.size();
                List<String> more = (isHere ? here : there).subList(common, Math.max(here.size(), there.size()));
                add(
                        false,
                        simple(more) + " is only " + (isHere ? sides.here() : sides.there())
                                + ": a call that passes such an object to the other side fails");
            }
        }

        private static List<String> simple(List<String> lines) {
            return lines.stream().map(TypeName::simple).toList();
        }

        /** Converts what is sent here into what is taken there; empty if both are encoded alike. */
        private Optional<Converter> sent(List<TypeName> sent, List<TypeName> taken)
                throws Converters.UnknownFormException {
            if (types.areEncodedAlike(sent, taken)) {
                return Optional.empty();
            }
            Converter converter = new Converters(mine, theirs).ofAll(sent, taken);
            // The conversion of the other direction must exist, too: the verdict is the same for both.
            new Converters(theirs, mine).ofAll(taken, sent);
            return Optional.of(converter);
        }

        private Optional<Plan> plan(Method here, Method there) {
            try {
                Optional<Converter> arguments = sent(here.arguments(), there.arguments());
                Optional<Converter> elements = sent(here.elements(), there.elements());
                Optional<Converter> result = types.areEncodedAlike(List.of(here.result()), List.of(there.result()))
                        ? Optional.empty()
                        : Optional.of(
                                new Converters(theirs, mine).ofAll(List.of(there.result()), List.of(here.result())));
                if (result.isPresent()) {
                    new Converters(mine, theirs).ofAll(List.of(here.result()), List.of(there.result()));
                }
                return Optional.of(new Plan(there, arguments, elements, result));
            } catch (Converters.UnknownFormException | ArithmeticException e) {
                add(true, "method '" + here.text() + "' has types that differ, and " + e.getMessage());
                return Optional.empty();
            }
        }
    }
}
