package dev.rackcall.rpc.schema;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.shm.codec.PayloadReader;
import dev.rackcall.shm.codec.PayloadWriter;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Converters of generic records. */
class ConvertersTest {
    private static final Schema WIDE = Schema.parse("""
            service /s
            0 unary void put(s.Pair pair)
            record s.Pair(s.Box<java.lang.Long> first, s.Box<java.lang.Long> second, s.Box<java.lang.Long> third)
            record s.Box<java.lang.Long>(java.lang.Long value, int more)""");
    /** As the wide one, but for the second box. */
    private static final Schema MIXED = Schema.parse("""
            service /s
            0 unary void put(s.Pair pair)
            record s.Pair(s.Box<java.lang.Long> first, s.Box<java.lang.Integer> second, s.Box<java.lang.Long> third)
            record s.Box<java.lang.Long>(java.lang.Long value, int more)
            record s.Box<java.lang.Integer>(java.lang.Integer value, int more)""");

    private static PayloadReader convert(Schema from, Schema to, PayloadWriter written, MemorySegment buffer)
            throws Exception {
        PayloadReader in = PayloadReader.create();
        in.begin(buffer, 0, written.length());
        MemorySegment converted = Arena.ofAuto().allocate(1 << 10);
        PayloadWriter out = writer(converted);
        List<TypeName> pair = List.of(new TypeName("s.Pair", List.of()));
        new Converters(from, to).ofAll(pair, pair).convert(in, out);
        PayloadReader result = PayloadReader.create();
        result.begin(converted, 0, out.length());
        return result;
    }

    private static PayloadWriter writer(MemorySegment buffer) {
        PayloadWriter out = PayloadWriter.create((_, _, _) -> {
            throw new AssertionError("too long");
        });
        out.begin(buffer);
        return out;
    }

    @Test
    void shouldConvertEachUseOfAGenericRecordByItsOwnArgument() throws Exception {
        MemorySegment buffer = Arena.ofAuto().allocate(1 << 10);
        PayloadWriter written = writer(buffer);
        for (int i = 1; i <= 3; i++) {
            written.writeLong(i);
            written.writeInt(10 * i);
        }
        PayloadReader narrowed = convert(WIDE, MIXED, written, buffer);
        assertThat(List.of(narrowed.readLong(), narrowed.readInt())).containsExactly(1L, 10);
        assertThat(List.of(narrowed.readInt(), narrowed.readInt())).containsExactly(2, 20);
        assertThat(List.of(narrowed.readLong(), narrowed.readInt())).containsExactly(3L, 30);
    }
}
