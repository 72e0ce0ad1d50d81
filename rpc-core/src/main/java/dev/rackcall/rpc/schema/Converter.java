package dev.rackcall.rpc.schema;

import dev.rackcall.shm.codec.PayloadException;
import dev.rackcall.shm.codec.PayloadReader;
import dev.rackcall.shm.codec.PayloadWriter;
import java.util.List;
import java.util.OptionalInt;
import java.util.function.Consumer;

/**
 * Rewrites encoded values of one version of a type into the form of another version, without making objects. The reader
 * checks every length, so the input may be a hostile peer's. Immutable once built, and thread-safe.
 */
sealed interface Converter {
    /** Reads one value and writes it in the other form. */
    void convert(PayloadReader in, PayloadWriter out);

    /** Reads one value that the other form does not have. */
    void skip(PayloadReader in);

    /** Minimum bytes of a value that is read; at least 1. */
    default int minBytes() {
        return 1;
    }

    /** A value of a fixed size, equal in both forms. */
    record Bytes(int count) implements Converter {
        @Override
        public void convert(PayloadReader in, PayloadWriter out) {
            out.append(in, count);
        }

        @Override
        public void skip(PayloadReader in) {
            in.skip(count);
        }

        @Override
        public int minBytes() {
            return count;
        }
    }

    /** A count and that many elements of a fixed size, equal in both forms. */
    record Counted(int elementBytes) implements Converter {
        @Override
        public void convert(PayloadReader in, PayloadWriter out) {
            int count = in.readCount(elementBytes);
            out.writeCount(count);
            out.append(in, (long) count * elementBytes);
        }

        @Override
        public void skip(PayloadReader in) {
            in.skip((long) in.readCount(elementBytes) * elementBytes);
        }
    }

    /** A count and that many elements, each of which consists of these parts: one, or a key and a value. */
    record Elements(List<Converter> parts) implements Converter {
        @Override
        public void convert(PayloadReader in, PayloadWriter out) {
            int count = in.readCount(elementBytes());
            out.writeCount(count);
            for (int i = 0; i < count; i++) {
                for (Converter part : parts) {
                    part.convert(in, out);
                }
            }
        }

        @Override
        public void skip(PayloadReader in) {
            int count = in.readCount(elementBytes());
            for (int i = 0; i < count; i++) {
                for (Converter part : parts) {
                    part.skip(in);
                }
            }
        }

        private int elementBytes() {
            return parts.stream().mapToInt(Converter::minBytes).sum();
        }
    }

    /** An Optional. */
    record Maybe(Converter element) implements Converter {
        @Override
        public void convert(PayloadReader in, PayloadWriter out) {
            boolean present = in.readBoolean();
            out.writeBoolean(present);
            if (present) {
                element.convert(in, out);
            }
        }

        @Override
        public void skip(PayloadReader in) {
            if (in.readBoolean()) {
                element.skip(in);
            }
        }
    }

    /** A signed integer of another width. */
    record Resized(int fromBytes, int toBytes) implements Converter {
        @Override
        public void convert(PayloadReader in, PayloadWriter out) {
            long value = switch (fromBytes) {
                case Byte.BYTES -> in.readByte();
                case Short.BYTES -> in.readShort();
                case Integer.BYTES -> in.readInt();
                default -> in.readLong();
            };
            int unused = Long.SIZE - Byte.SIZE * toBytes;
            if (value << unused >> unused != value) {
                throw new PayloadException("the number " + value + " does not fit into the " + toBytes
                        + " bytes that the receiver's older interface has for it; use larger numbers when both ends"
                        + " have the newer interface");
            }
            switch (toBytes) {
                case Byte.BYTES -> out.writeByte((byte) value);
                case Short.BYTES -> out.writeShort((short) value);
                case Integer.BYTES -> out.writeInt((int) value);
                default -> out.writeLong(value);
            }
        }

        @Override
        public void skip(PayloadReader in) {
            in.skip(fromBytes);
        }

        @Override
        public int minBytes() {
            return fromBytes;
        }
    }

    /**
     * A number that stands for a name: an enum constant, or a case of a sealed interface. Matched by name.
     *
     * @param type the enum or interface
     * @param from the sender's names, for messages
     * @param to the receiver's number of each of them; empty for one that it does not have
     * @param cases what follows each number; empty for an enum
     */
    record Numbered(String type, List<String> from, List<OptionalInt> to, List<Converter> cases) implements Converter {
        @Override
        public void convert(PayloadReader in, PayloadWriter out) {
            int number = number(in);
            OptionalInt there = to.get(number);
            if (there.isEmpty()) {
                throw new PayloadException("the receiver does not know " + from.get(number)
                        + ", because it has another version of the interface; send it when both ends have the newer"
                        + " one");
            }
            out.writeInt(there.getAsInt());
            if (!cases.isEmpty()) {
                cases.get(number).convert(in, out);
            }
        }

        private int number(PayloadReader in) {
            int number = in.readInt();
            if (number < 0 || number >= to.size()) {
                throw new PayloadException("number " + number + " of " + type + ", which has " + to.size()
                        + (cases.isEmpty() ? " constants" : " cases"));
            }
            return number;
        }

        @Override
        public void skip(PayloadReader in) {
            int number = number(in);
            if (!cases.isEmpty()) {
                cases.get(number).skip(in);
            }
        }

        @Override
        public int minBytes() {
            return Integer.BYTES;
        }
    }

    /** Reads a value that the other form does not have. */
    record Skipped(Converter value) implements Converter {
        @Override
        public void convert(PayloadReader in, PayloadWriter out) {
            value.skip(in);
        }

        @Override
        public void skip(PayloadReader in) {
            value.skip(in);
        }
    }

    /** Writes a constant for what only the other form has: an empty Optional, a default. */
    record Constant(Consumer<PayloadWriter> write) implements Converter {
        /** An empty Optional, or the one byte of a record without components. */
        static final Constant ABSENT = new Constant(out -> out.writeByte((byte) 0));

        @Override
        public void convert(PayloadReader in, PayloadWriter out) {
            write.accept(out);
        }

        @Override
        public void skip(PayloadReader in) {}
    }

    /** A record. Its steps are set once, because a record may contain itself. */
    final class Steps implements Converter {
        private final String name;
        private Converter[] steps = {};
        private boolean recursive;

        Steps(String name) {
            this.name = name;
        }

        void set(List<Converter> all) {
            steps = all.toArray(Converter[]::new);
        }

        /** Marks it as a record that may contain itself, which bounds its depth. */
        void contained() {
            recursive = true;
        }

        @Override
        public void convert(PayloadReader in, PayloadWriter out) {
            enter(in);
            for (Converter step : steps) {
                step.convert(in, out);
            }
            leave(in);
        }

        @Override
        public void skip(PayloadReader in) {
            enter(in);
            for (Converter step : steps) {
                step.skip(in);
            }
            leave(in);
        }

        private void enter(PayloadReader in) {
            if (recursive) {
                in.enter(name);
            }
        }

        private void leave(PayloadReader in) {
            if (recursive) {
                in.leave();
            }
        }
    }
}
