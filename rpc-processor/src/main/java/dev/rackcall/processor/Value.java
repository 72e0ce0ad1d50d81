package dev.rackcall.processor;

import com.palantir.javapoet.ClassName;
import com.palantir.javapoet.TypeName;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
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

    /** A component of a record. */
    record Component(String name, Value value) {}

    /** A record class. It may contain itself, so its components are added after its creation. */
    final class Composite implements Compound {
        private final TypeName type;
        private final TypeElement element;
        private final List<Component> components = new ArrayList<>();

        Composite(TypeName type, TypeElement element) {
            this.type = type;
            this.element = element;
        }

        @Override
        public TypeName type() {
            return type;
        }

        TypeElement element() {
            return element;
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
            return finite(new HashSet<>());
        }

        private boolean finite(Set<Composite> around) {
            if (!around.add(this)) {
                return false;
            }
            for (Component component : components) {
                if (component.value() instanceof Composite inner && !inner.finite(around)) {
                    return false;
                }
            }
            around.remove(this);
            return true;
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
        return reached.stream().anyMatch(Shared.class::isInstance);
    }
}
