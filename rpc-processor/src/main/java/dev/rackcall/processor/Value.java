package dev.rackcall.processor;

import com.palantir.javapoet.ClassName;
import com.palantir.javapoet.TypeName;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import javax.lang.model.element.TypeElement;

/** The type of an argument or a result, as the codec sees it. */
sealed interface Value {
    /** The type in generated code. */
    TypeName type();

    /** The values that this one holds. */
    default List<Value> parts() {
        return List.of();
    }

    /** Minimum size of an encoded value in bytes, at least 1: a reader uses it to check a count before it allocates. */
    default int minBytes() {
        return Integer.BYTES;
    }

    /** A value that holds other values; a method of its own encodes it. */
    sealed interface Compound extends Value {}

    /** A value that holds any number of one kind. */
    sealed interface OfElements extends Compound {
        Value element();

        @Override
        default List<Value> parts() {
            return List.of(element());
        }
    }

    /** A primitive or its box. */
    record Scalar(TypeName type, String accessor, int minBytes) implements Value {
        boolean boxed() {
            return type.isBoxedPrimitive();
        }
    }

    /** {@code String} or {@code byte[]}: a method of {@code PayloadWriter} writes it and refuses null. */
    record Direct(TypeName type, String accessor) implements Value {}

    /** A value that a static method of another codec class writes; the method refuses null. */
    record Beside(TypeName type, ClassName codec, String accessor, int minBytes) implements Value {}

    record Enumeration(TypeName type, TypeElement element) implements Value {}

    /** A shared interface: its Ref travels. */
    record Shared(TypeName type, TypeElement element) implements Value {
        @Override
        public int minBytes() {
            return Long.BYTES;
        }
    }

    /**
     * A library's type that another of our modules lets travel, by a Ref or as a copy: static methods of {@code codec}
     * write and read it.
     */
    record Adapted(TypeName type, ClassName codec) implements Value {
        @Override
        public int minBytes() {
            return 1 + Integer.BYTES;
        }
    }

    /** A class from {@code registered}, or a superclass of one. */
    record Registered(TypeName type) implements Value {}

    /** A {@code List} or {@code Set}. */
    record Elements(TypeName type, boolean set, Value element) implements OfElements {}

    /** An array of anything but primitives. */
    record ObjectArray(TypeName type, Value element) implements OfElements {}

    record Mapping(TypeName type, Value key, Value value) implements Compound {
        @Override
        public List<Value> parts() {
            return List.of(key, value);
        }
    }

    record Maybe(TypeName type, Value element) implements OfElements {
        @Override
        public int minBytes() {
            return 1;
        }
    }

    /**
     * A sealed interface: the number of the case travels, then the record or enum that it is. A case may contain the
     * interface, so the cases are added after its creation.
     */
    final class OneOf implements Compound {
        private final TypeName type;
        private final List<Value> cases = new ArrayList<>();

        OneOf(TypeName type) {
            this.type = type;
        }

        @Override
        public TypeName type() {
            return type;
        }

        /** In the order of {@code permits}; sealed interfaces among them are replaced by their own cases. */
        List<Value> cases() {
            return cases;
        }

        @Override
        public List<Value> parts() {
            return cases;
        }
    }

    /**
     * A component of a record.
     *
     * @param ifMissing its value if the other end's version lacks it, from {@code @Default}, as text
     */
    record Component(String name, Value value, Optional<String> ifMissing) {}

    /** A record class. It may contain itself, so its components are added after its creation. */
    final class Composite implements Compound {
        private final TypeName type;
        private final List<Component> components = new ArrayList<>();

        Composite(TypeName type) {
            this.type = type;
        }

        @Override
        public TypeName type() {
            return type;
        }

        List<Component> components() {
            return components;
        }

        @Override
        public List<Value> parts() {
            return components.stream().map(Component::value).toList();
        }

        @Override
        public int minBytes() {
            return Math.max(1, bytesOutside(new HashSet<>()));
        }

        /** Counts each record class once, because a record may contain itself. */
        private int bytesOutside(Set<Composite> counted) {
            int bytes = 0;
            if (counted.add(this)) {
                for (Component component : components) {
                    bytes += component.value() instanceof Composite inner
                            ? inner.bytesOutside(counted)
                            : component.value().minBytes();
                }
            }
            return bytes;
        }

        /**
         * Whether a finite value exists. None does if each value must hold another one of its type, because null is
         * refused.
         */
        boolean finite() {
            return finite(this, new HashSet<>());
        }

        private static boolean finite(Value value, Set<Value> around) {
            return switch (value) {
                case Composite composite -> {
                    boolean first = around.add(composite);
                    boolean all =
                            first && composite.components().stream().allMatch(each -> finite(each.value(), around));
                    if (first) {
                        around.remove(composite);
                    }
                    yield all;
                }
                case OneOf oneOf -> oneOf.cases().stream().anyMatch(each -> finite(each, around));
                default -> true;
            };
        }

        /** Whether a value of this type may lie somewhere inside another. */
        boolean recursive() {
            Set<Value> reached = new HashSet<>();
            components.forEach(component -> component.value().reach(reached));
            return reached.contains(this);
        }
    }

    /** Adds this value and all that it can hold. */
    default void reach(Set<Value> reached) {
        if (reached.add(this)) {
            parts().forEach(part -> part.reach(reached));
        }
    }

    /** Whether a Ref to a shared object can lie inside. */
    default boolean mentionsShared() {
        Set<Value> reached = new HashSet<>();
        reach(reached);
        return reached.stream().anyMatch(Value::isPassedByRef);
    }

    /** Whether a Ref to a shared object travels in its place. */
    default boolean isPassedByRef() {
        return this instanceof Shared || this instanceof Adapted;
    }
}
