package dev.rackcall.processor;

import java.util.List;
import java.util.Locale;
import javax.lang.model.element.TypeElement;
import javax.lang.model.type.TypeKind;
import javax.lang.model.type.TypeMirror;

/** The type of a field of a shared record: its size, its alignment, and its text in the layout description. */
sealed interface FieldType {
    /** Bytes of a Ref, by which a record refers to every part of variable size. */
    int REF_BYTES = Long.BYTES;

    int bytes();

    default int alignment() {
        return bytes();
    }

    /**
     * The text in the layout description. Fields with equal descriptions have the same layout and the same accessors.
     */
    String describe();

    /** The shared interfaces that it names. */
    default List<TypeElement> mentions() {
        return List.of();
    }

    /** One of the eight primitive types, in its natural size; a boolean takes a byte. */
    record Primitive(TypeKind kind) implements FieldType {
        @Override
        public int bytes() {
            return switch (kind) {
                case LONG, DOUBLE -> 8;
                case INT, FLOAT -> 4;
                case SHORT, CHAR -> 2;
                default -> 1;
            };
        }

        @Override
        public String describe() {
            return kind.name().toLowerCase(Locale.ROOT);
        }

        /** {@code Long} as in {@code getLong}. */
        String accessor() {
            String word = describe();
            return Character.toUpperCase(word.charAt(0)) + word.substring(1);
        }
    }

    /** An enum constant by its ordinal, in two bytes. */
    record Constant(TypeElement type, List<String> constants) implements FieldType {
        @Override
        public int bytes() {
            return 2;
        }

        @Override
        public String describe() {
            return "enum " + type.getQualifiedName() + constants.toString().replace(" ", "");
        }
    }

    /** UTF-8 inside the record behind a two-byte length. */
    record FixedText(int capacity) implements FieldType {
        static final int LENGTH_BYTES = 2;

        @Override
        public int bytes() {
            return LENGTH_BYTES + capacity + (capacity & 1);
        }

        @Override
        public int alignment() {
            return LENGTH_BYTES;
        }

        @Override
        public String describe() {
            return "utf8[" + capacity + "]";
        }
    }

    /** A Ref to a {@link Target}. */
    sealed interface Leading extends FieldType {
        Target target();

        @Override
        default int bytes() {
            return REF_BYTES;
        }

        @Override
        default String describe() {
            return "->" + target().name();
        }

        @Override
        default List<TypeElement> mentions() {
            return target().mentions();
        }
    }

    /** A {@code String} or {@code byte[]} that lies in an object of its own. */
    record Value(Target target, boolean optional) implements Leading {}

    /**
     * A reference to a shared object or container.
     *
     * @param declared the target as the interface names it
     */
    record Reference(Target target, TypeMirror declared, Absence absence) implements Leading {
        /** What a getter does when the reference is null. */
        enum Absence {
            THROWS,
            OPTIONAL,
            REF
        }
    }

    /** Another shared type in place, without its header. */
    record Embedded(SharedModel model) implements FieldType {
        @Override
        public int bytes() {
            return model.embeddedBytes();
        }

        @Override
        public int alignment() {
            return model.alignment();
        }

        @Override
        public String describe() {
            return "inline " + model.layout();
        }

        @Override
        public List<TypeElement> mentions() {
            return List.of(model.type());
        }
    }

    /** An array of fixed length in place, without its header. */
    record FixedArray(Target array, int length) implements FieldType {
        @Override
        public int bytes() {
            return Math.multiplyExact(array.arrayElementBytes(), length);
        }

        @Override
        public int alignment() {
            return array.arrayElementBytes();
        }

        @Override
        public String describe() {
            return array.name() + "[" + length + "]";
        }

        @Override
        public List<TypeElement> mentions() {
            return array.mentions();
        }
    }
}
