package dev.rackcall;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaClass;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Checks the size and shape of packages, and the glossary of docs/architecture.md, in the top-level types of all modules. */
class RoomsTest {
    private static final int MOST_TYPES = 40;
    private static final int LARGEST_CYCLE = 8;
    private static final Pattern WORD = Pattern.compile("[A-Z][a-z0-9]*");

    /** The words that the glossary replaces, and the only package in which each still has a meaning of its own. */
    private static final Map<String, String> REPLACED = Map.ofEntries(
            Map.entry("Way", ""),
            Map.entry("Ways", ""),
            Map.entry("Road", ""),
            Map.entry("Greeting", ""),
            Map.entry("Knock", ""),
            Map.entry("Meeting", ""),
            Map.entry("Welcome", ""),
            Map.entry("Link", "dev.rackcall.verbs.soft"),
            Map.entry("Lane", "dev.rackcall.cp"),
            Map.entry("Lanes", "dev.rackcall.cp"));

    /** What each top-level type depends on: other top-level types of this project. */
    private static final Map<String, Set<String>> DEPENDENCIES = new TreeMap<>();

    @BeforeAll
    static void readClasses() {
        for (JavaClass type : ArchitectureTest.ALL) {
            String name = topLevel(type);
            if (name.endsWith(".package-info")) {
                continue;
            }
            Set<String> used = DEPENDENCIES.computeIfAbsent(name, _ -> new TreeSet<>());
            for (Dependency dependency : type.getDirectDependenciesFromSelf()) {
                String target = topLevel(dependency.getTargetClass().getBaseComponentType());
                if (target.startsWith("dev.rackcall.") && !target.equals(name)) {
                    used.add(target);
                }
            }
        }
        assertThat(DEPENDENCIES).as("types of all modules").hasSizeGreaterThan(500);
    }

    private static String topLevel(JavaClass type) {
        String name = type.getName();
        int nested = name.indexOf('$');
        return nested < 0 ? name : name.substring(0, nested);
    }

    private static String packageOf(String type) {
        return type.substring(0, type.lastIndexOf('.'));
    }

    private static String simpleName(String type) {
        return type.substring(type.lastIndexOf('.') + 1);
    }

    @Test
    void shouldHoldAtMostFortyTypesInAPackage() {
        Map<String, Long> sizes = DEPENDENCIES.keySet().stream()
                .collect(Collectors.groupingBy(RoomsTest::packageOf, TreeMap::new, Collectors.counting()));
        sizes.values().removeIf(count -> count <= MOST_TYPES);
        assertThat(sizes).as("packages with more than %d types", MOST_TYPES).isEmpty();
    }

    @Test
    void shouldHaveNoCyclesBetweenPackages() {
        Map<String, Set<String>> packages = new TreeMap<>();
        DEPENDENCIES.forEach((type, used) -> {
            Set<String> others = packages.computeIfAbsent(packageOf(type), _ -> new TreeSet<>());
            used.stream()
                    .map(RoomsTest::packageOf)
                    .filter(other -> !other.equals(packageOf(type)))
                    .forEach(others::add);
        });
        assertThat(cycles(packages)).as("cycles of packages").isEmpty();
    }

    @Test
    void shouldHaveNoLargeCyclesOfTypesInAPackage() {
        Map<String, Set<String>> inside = new TreeMap<>();
        DEPENDENCIES.forEach((type, used) -> inside.put(
                type,
                used.stream()
                        .filter(other -> packageOf(other).equals(packageOf(type)))
                        .collect(Collectors.toSet())));
        assertThat(cycles(inside))
                .as("cycles of types")
                .allSatisfy(cycle -> assertThat(cycle).hasSizeLessThanOrEqualTo(LARGEST_CYCLE));
    }

    @Test
    void shouldGiveEachNameToOneType() {
        Map<String, List<String>> names = DEPENDENCIES.keySet().stream()
                .collect(Collectors.groupingBy(RoomsTest::simpleName, TreeMap::new, Collectors.toList()));
        names.values().removeIf(types -> types.size() == 1);
        assertThat(names).as("names of several types").isEmpty();
    }

    /** A second word for an idea makes readers look for a second idea. */
    @Test
    void shouldUseTheGlossarysWords() {
        List<String> wrong = new ArrayList<>();
        for (String type : DEPENDENCIES.keySet()) {
            WORD.matcher(simpleName(type))
                    .results()
                    .map(match -> match.group())
                    .filter(REPLACED::containsKey)
                    .filter(word -> REPLACED.get(word).isEmpty() || !type.startsWith(REPLACED.get(word)))
                    .forEach(word -> wrong.add(type + ": " + word));
        }
        assertThat(wrong)
                .as("types named by a word that the glossary in docs/architecture.md replaces")
                .isEmpty();
    }

    /** The strongly connected components of more than one node: nodes that reach each other. */
    private static List<Set<String>> cycles(Map<String, Set<String>> graph) {
        Map<String, Set<String>> reached = new HashMap<>();
        graph.keySet().forEach(node -> reached.put(node, reachable(node, graph)));
        List<Set<String>> cycles = new ArrayList<>();
        Set<String> done = new HashSet<>();
        for (String node : graph.keySet()) {
            if (done.contains(node) || !reached.get(node).contains(node)) {
                continue;
            }
            Set<String> cycle = reached.get(node).stream()
                    .filter(other -> reached.getOrDefault(other, Set.of()).contains(node))
                    .collect(Collectors.toCollection(TreeSet::new));
            done.addAll(cycle);
            cycles.add(cycle);
        }
        return cycles;
    }

    private static Set<String> reachable(String start, Map<String, Set<String>> graph) {
        Set<String> reached = new HashSet<>();
        List<String> open = new ArrayList<>(graph.getOrDefault(start, Set.of()));
        while (!open.isEmpty()) {
            String node = open.removeLast();
            if (reached.add(node)) {
                open.addAll(graph.getOrDefault(node, Set.of()));
            }
        }
        return reached;
    }
}
