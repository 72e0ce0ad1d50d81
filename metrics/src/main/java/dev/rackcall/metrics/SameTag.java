package dev.rackcall.metrics;

import io.micrometer.core.instrument.MeterRegistry;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.WeakHashMap;
import java.util.function.Consumer;
import java.util.function.ToDoubleFunction;

/**
 * Servers, or channels, that were bound to one registry with the same tag. A registry keeps only the first gauge of a
 * name, so a gauge shows the sum of them all. Does not keep them in memory. Thread-safe.
 */
final class SameTag<T> {
    private final Map<T, Boolean> members = new WeakHashMap<>();

    private SameTag() {}

    /** All that are bound to any registry. */
    static final class OfAll<T> {
        private final Map<MeterRegistry, Map<String, SameTag<T>>> registries = new WeakHashMap<>();

        /**
         * @param register makes the gauges; called for the first member with that tag in the registry
         * @return false if it was bound to this registry before
         */
        synchronized boolean add(MeterRegistry registry, String tag, T member, Consumer<SameTag<T>> register) {
            return registries
                    .computeIfAbsent(registry, _ -> new HashMap<>())
                    .computeIfAbsent(tag, _ -> {
                        SameTag<T> same = new SameTag<>();
                        register.accept(same);
                        return same;
                    })
                    .add(member);
        }
    }

    private synchronized boolean add(T member) {
        return members.put(member, true) == null;
    }

    private synchronized List<T> members() {
        return List.copyOf(members.keySet());
    }

    double sum(ToDoubleFunction<T> value) {
        return members().stream().mapToDouble(value).sum();
    }
}
