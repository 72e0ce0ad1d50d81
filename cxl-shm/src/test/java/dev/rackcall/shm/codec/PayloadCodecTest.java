package dev.rackcall.shm.codec;

import static dev.rackcall.testkit.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.rackcall.testkit.Await;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.util.HexFormat;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PayloadCodecTest {
    private final TestMemory memory = new TestMemory();

    @AfterEach
    void free() {
        memory.close();
    }

    @Test
    void shouldLayValuesLittleEndianWithoutPadding() {
        PayloadWriter out = memory.writer(256);
        out.writeBoolean(true);
        out.writeByte((byte) -2);
        out.writeShort((short) 0x0102);
        out.writeChar('\u0304');
        out.writeInt(0x05060708);
        out.writeLong(0x0102030405060708L);
        out.writeFloat(1.0f);
        out.writeDouble(1.0);
        out.writeString("aé", "text");
        out.writeBytes(new byte[] {9, 8}, "bytes");
        out.writeEnum(TimeUnit.MICROSECONDS, "unit");
        PrimitiveArrays.writeInts(out, new int[] {1, -1}, "ints");
        assertThat(HexFormat.of().formatHex(TestMemory.bytes(out)))
                .isEqualTo("01" + "fe" + "0201" + "0403" + "08070605" + "0807060504030201" + "0000803f"
                        + "000000000000f03f" + "0300000061c3a9" + "020000000908" + "01000000"
                        + "0200000001000000ffffffff");
    }

    @Test
    void shouldReadWhatItWrote() {
        PayloadWriter out = memory.writer(1024);
        for (boolean value : new boolean[] {true, false}) {
            out.writeBoolean(value);
        }
        out.writeByte(Byte.MIN_VALUE);
        out.writeShort(Short.MIN_VALUE);
        out.writeChar(Character.MAX_VALUE);
        out.writeInt(Integer.MIN_VALUE);
        out.writeLong(Long.MIN_VALUE);
        out.writeFloat(Float.MIN_VALUE);
        out.writeDouble(Double.NaN);
        out.writeRef(0x0007_0100_0000_1000L);
        out.writeCount(0);
        out.writeEnum(TimeUnit.DAYS, "unit");
        PrimitiveArrays.writeBooleans(out, new boolean[] {true, false}, "booleans");
        PrimitiveArrays.writeShorts(out, new short[] {1, -1}, "shorts");
        PrimitiveArrays.writeChars(out, new char[] {'a', '\uFFFF'}, "chars");
        PrimitiveArrays.writeInts(out, new int[] {1, -1}, "ints");
        PrimitiveArrays.writeLongs(out, new long[] {Long.MAX_VALUE, -1}, "longs");
        PrimitiveArrays.writeFloats(out, new float[] {1, Float.NaN}, "floats");
        PrimitiveArrays.writeDoubles(out, new double[] {1, -0.0}, "doubles");
        out.writeBytes(new byte[0], "bytes");

        PayloadReader in = TestMemory.read(out);
        assertThat(in.readBoolean()).isTrue();
        assertThat(in.readBoolean()).isFalse();
        assertThat(in.readByte()).isEqualTo(Byte.MIN_VALUE);
        assertThat(in.readShort()).isEqualTo(Short.MIN_VALUE);
        assertThat(in.readChar()).isEqualTo(Character.MAX_VALUE);
        assertThat(in.readInt()).isEqualTo(Integer.MIN_VALUE);
        assertThat(in.readLong()).isEqualTo(Long.MIN_VALUE);
        assertThat(in.readFloat()).isEqualTo(Float.MIN_VALUE);
        assertThat(in.readDouble()).isNaN();
        assertThat(in.readRef()).isEqualTo(0x0007_0100_0000_1000L);
        assertThat(in.readCount(8)).isZero();
        assertThat(in.readEnum(TimeUnit.values())).isEqualTo(TimeUnit.DAYS);
        assertThat(PrimitiveArrays.readBooleans(in)).containsExactly(true, false);
        assertThat(PrimitiveArrays.readShorts(in)).containsExactly(1, -1);
        assertThat(PrimitiveArrays.readChars(in)).containsExactly('a', '\uFFFF');
        assertThat(PrimitiveArrays.readInts(in)).containsExactly(1, -1);
        assertThat(PrimitiveArrays.readLongs(in)).containsExactly(Long.MAX_VALUE, -1);
        assertThat(PrimitiveArrays.readFloats(in)).containsExactly(1, Float.NaN);
        assertThat(PrimitiveArrays.readDoubles(in)).containsExactly(1, -0.0);
        assertThat(in.readBytes()).isEmpty();
        in.expectEnd();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "a",
                "plain text, longer than eight characters",
                "é",
                "ASCII first, dann Umlaute: äöü",
                "漢字",
                "emoji \uD83D\uDE80 in between",
                "\u0000 and \u007f and \u0080 and \u07ff and \u0800",
                "a sent \uFFFD is no replacement"
            })
    void shouldKeepText(String text) {
        PayloadWriter out = memory.writer(0);
        out.writeString(text, "text");
        PayloadReader in = TestMemory.read(out);
        assertThat(in.readString()).isEqualTo(text);
        in.expectEnd();
    }

    @Test
    void shouldKeepTextOfAnyLength() {
        for (int length : new int[] {7, 8, 9, 255, 256, 257, 511, 512, 513, 4 * 1024, 4 * 1024 + 1, 100_000}) {
            for (String unit : new String[] {"x", "é", "漢"}) {
                String text = unit.repeat(length);
                PayloadWriter out = memory.writer(16);
                out.writeString(text, "text");
                assertThat(TestMemory.read(out).readString()).isEqualTo(text);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"\uD83D", "a\uDE80b", "\uD83D\uD83D", "ends with \uD83D"})
    void shouldRefuseTextThatUtf8CannotExpress(String text) {
        assertThrown(
                PayloadException.class, () -> memory.writer(64).writeString(text, "title"), "'title'", "surrogate");
    }

    @Test
    void shouldNameTheArgumentThatIsNull() {
        PayloadWriter out = memory.writer(64);
        assertThrown(PayloadException.class, () -> out.writeString(null, "key"), "'key' is null", "Optional");
        assertThatThrownBy(() -> out.writeBytes(null, "value")).hasMessageContaining("'value' is null");
        assertThatThrownBy(() -> PrimitiveArrays.writeLongs(out, null, "numbers"))
                .hasMessageContaining("'numbers' is null");
        assertThatThrownBy(() -> out.writeEnum(null, "color")).hasMessageContaining("'color' is null");
        assertThatThrownBy(() -> out.writeObject(null, "legacy")).hasMessageContaining("'legacy' is null");
        assertThrown(
                PayloadException.class,
                () -> PayloadWriter.requiredIn(null, "an element", "tags"),
                "an element of 'tags' is null");
    }

    @Test
    void shouldGrowWhateverIsWrittenAcrossTheEnd() {
        for (int size = 0; size < 120; size++) {
            PayloadWriter out = memory.writer(size);
            out.writeLong(-1);
            out.writeString("é and more", "text");
            out.writeByte((byte) 1);
            PrimitiveArrays.writeDoubles(out, new double[] {1, 2}, "doubles");
            out.writeBytes(new byte[] {1, 2, 3}, "bytes");
            out.writeString("plain", "text");

            PayloadReader in = TestMemory.read(out);
            assertThat(in.readLong()).isEqualTo(-1);
            assertThat(in.readString()).isEqualTo("é and more");
            assertThat(in.readByte()).isEqualTo((byte) 1);
            assertThat(PrimitiveArrays.readDoubles(in)).containsExactly(1, 2);
            assertThat(in.readBytes()).containsExactly(1, 2, 3);
            assertThat(in.readString()).isEqualTo("plain");
            in.expectEnd();
        }
    }

    @Test
    void shouldNotGrowWhileThereIsRoom() {
        PayloadWriter out = memory.writer(9);
        out.writeString("12345", "text");
        assertThat(memory.growths()).isZero();
        out.writeByte((byte) 1);
        assertThat(memory.growths()).isEqualTo(1);
    }

    @Test
    void shouldWriteNothingOutsideItsMemory() {
        MemorySegment whole = memory.allocate(64).fill((byte) 0x55);
        PayloadWriter out = PayloadWriter.create(memory);
        out.begin(whole.asSlice(16, 21));
        out.writeString("twelve chars", "text");
        out.writeString("does not fit any more", "text");
        assertThat(whole.asSlice(0, 16).toArray(ValueLayout.JAVA_BYTE)).containsOnly(0x55);
        assertThat(whole.asSlice(37).toArray(ValueLayout.JAVA_BYTE)).containsOnly(0x55);
    }

    @Test
    void shouldPassOnWhyThereIsNoRoom() {
        PayloadWriter out = PayloadWriter.create((old, used, needed) -> {
            throw new IllegalArgumentException(used + " used, " + needed + " needed");
        });
        out.begin(memory.allocate(10));
        out.writeLong(1);
        assertThatThrownBy(() -> out.writeInt(1)).hasMessage("8 used, 12 needed");
    }

    @Test
    void shouldNotTrustGrowthThatDoesNotGrow() {
        PayloadWriter out = PayloadWriter.create((old, used, needed) -> old);
        out.begin(memory.allocate(10));
        assertThrown(
                IllegalStateException.class,
                () -> out.writeString("longer than ten", "text"),
                "10 bytes where 19 were needed");
    }

    @Test
    void shouldFillInCountsLater() {
        PayloadWriter out = memory.writer(4);
        long at = out.reserveCount();
        out.writeByte((byte) 7);
        out.writeByte((byte) 8);
        out.setCount(at, 2);
        PayloadReader in = TestMemory.read(out);
        assertThat(in.readCount(1)).isEqualTo(2);
        assertThatThrownBy(() -> out.setCount(3, 1)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> out.setCount(-1, 1)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void shouldReadOnlyItsRange() {
        PayloadWriter out = memory.writer(64);
        out.writeLong(1);
        out.writeLong(2);
        out.writeLong(3);
        PayloadReader in = PayloadReader.create();
        in.begin(out.buffer(), 8, 8);
        assertThat(in.remaining()).isEqualTo(8);
        assertThat(in.readLong()).isEqualTo(2);
        assertThrown(PayloadException.class, in::readByte, "1 bytes expected, but 0 remain");
        assertThatThrownBy(() -> in.begin(out.buffer(), 60, 5)).isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> in.begin(out.buffer(), -1, 5)).isInstanceOf(IndexOutOfBoundsException.class);
        assertThrown(IndexOutOfBoundsException.class, () -> in.begin(out.buffer(), 0, Long.MAX_VALUE));
    }

    @Test
    void shouldRefuseHeapMemory() {
        MemorySegment heap = MemorySegment.ofArray(new byte[8]);
        assertThatThrownBy(() -> PayloadReader.create().begin(heap, 0, 8)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> PayloadWriter.create(memory).begin(heap)).isInstanceOf(IllegalArgumentException.class);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "ffffffff 0000", // negative length
                "03000000 6161", // longer than what remains
                "ffffff7f 6161",
                "02000000 c328", // malformed
                "02000000 c0af", // overlong
                "03000000 eda080", // half a surrogate pair
                "01000000 ff",
                "02000000 61c3", // ends within a character
                "04000000 f4908080", // above U+10FFFF
                "04000000 efbfbdff" // U+FFFD that was sent, and one that would be a replacement
            })
    void shouldRefuseTextThatIsNoUtf8(String bytes) {
        PayloadReader in = memory.readHex(bytes);
        assertThatThrownBy(in::readString).isInstanceOf(PayloadException.class);
    }

    @Test
    void shouldRefuseInvalidValues() {
        assertThrown(PayloadException.class, memory.readHex("02")::readBoolean, "boolean is 2");
        assertThrown(PayloadException.class, () -> PrimitiveArrays.readBooleans(memory.readHex("01000000 80")));
        assertThrown(
                PayloadException.class,
                () -> memory.readHex("07000000").readEnum(TimeUnit.values()),
                "ordinal 7",
                "java.util.concurrent.TimeUnit");
        assertThrown(PayloadException.class, () -> memory.readHex("ffffffff").readEnum(TimeUnit.values()));
        assertThrown(PayloadException.class, memory.readHex("00")::expectEnd, "1 bytes are left over");
    }

    @Test
    void shouldRefuseALengthThatOverflowsThePosition() {
        PayloadReader in = memory.readHex("0102");
        in.readByte();
        assertThrown(PayloadException.class, () -> in.skip(Long.MAX_VALUE), Long.MAX_VALUE + " bytes", "1 remain");
        assertThat(in.remaining()).isEqualTo(1);
    }

    @Test
    void shouldCheckCountsBeforeAnythingIsAllocated() {
        assertThat(memory.readHex("02000000 0000000000000000").readCount(4)).isEqualTo(2);
        assertThrown(
                PayloadException.class,
                () -> memory.readHex("03000000 0000000000000000").readCount(4),
                "3 elements of at least 4 bytes, but 8 bytes remain");
        assertThatThrownBy(() -> memory.readHex("ffffff7f 00").readCount(1)).isInstanceOf(PayloadException.class);
        for (String count : new String[] {"ffffff7f", "00000080", "ffffffff"}) {
            assertThatThrownBy(memory.readHex(count)::readBytes).isInstanceOf(PayloadException.class);
            assertThrown(PayloadException.class, () -> PrimitiveArrays.readBooleans(memory.readHex(count)));
            assertThrown(PayloadException.class, () -> PrimitiveArrays.readShorts(memory.readHex(count)));
            assertThrown(PayloadException.class, () -> PrimitiveArrays.readChars(memory.readHex(count)));
            assertThrown(PayloadException.class, () -> PrimitiveArrays.readInts(memory.readHex(count)));
            assertThrown(PayloadException.class, () -> PrimitiveArrays.readLongs(memory.readHex(count)));
            assertThrown(PayloadException.class, () -> PrimitiveArrays.readFloats(memory.readHex(count)));
            assertThrown(PayloadException.class, () -> PrimitiveArrays.readDoubles(memory.readHex(count)));
        }
    }

    @Test
    void shouldBoundTheDepthOfBothDirections() {
        PayloadWriter out = memory.writer(8);
        PayloadReader in = TestMemory.read(out);
        for (int i = 0; i < PayloadWriter.MAX_DEPTH; i++) {
            out.enter("Node");
            in.enter("Node");
        }
        assertThrown(PayloadException.class, () -> out.enter("Node"), "Node is nested more than 128 deep");
        assertThatThrownBy(() -> in.enter("Node")).isInstanceOf(PayloadException.class);
        out.begin(memory.allocate(8));
        out.enter("Node");
        out.leave();
    }

    @Test
    void shouldRefuseObjectsWithoutACodec() {
        assertThrown(
                PayloadException.class,
                () -> memory.writer(8).writeObject(new Object(), "legacy"),
                "java.lang.Object",
                "registered");
        assertThrown(PayloadException.class, () -> memory.readHex("00000000").readObject(String.class));
    }

    @Test
    void shouldRefuseAnObjectOfAnotherClass() {
        ObjectCodec codec = new ObjectCodec() {
            @Override
            public void write(Object value, PayloadWriter out) {
                out.writeString(value.toString(), "object");
            }

            @Override
            public Object read(PayloadReader in) {
                return in.readString();
            }
        };
        PayloadWriter out = memory.writer(64).objects(codec);
        out.writeObject(12, "number");
        assertThat(TestMemory.read(out).objects(codec).readObject(String.class)).isEqualTo("12");
        assertThrown(
                PayloadException.class,
                () -> TestMemory.read(out).objects(codec).readObject(Integer.class),
                "java.lang.String where java.lang.Integer belongs");
    }

    @Test
    void shouldAllocateNothingPerCall() {
        PayloadWriter out = memory.writer(256);
        PayloadReader in = PayloadReader.create();
        MemorySegment buffer = out.buffer();
        byte[] bytes = new byte[64];
        String text = "a text of ASCII characters, longer than a word";
        Runnable call = () -> {
            out.begin(buffer);
            out.writeLong(1);
            out.writeString(text, "text");
            out.writeBytes(bytes, "bytes");
            out.writeDouble(2);
            in.begin(buffer, 0, out.length());
            in.readLong();
        };
        var threads = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
        long allocated = Long.MAX_VALUE;
        long start = System.nanoTime();
        // Classes are loaded in the first rounds, measuring may allocate, and a busy machine compiles late.
        while (allocated >= 10_000 && System.nanoTime() - start < Await.BOUND.toNanos()) {
            long before = threads.getCurrentThreadAllocatedBytes();
            for (int i = 0; i < 10_000; i++) {
                call.run();
            }
            allocated = threads.getCurrentThreadAllocatedBytes() - before;
        }
        assertThat(allocated).as("bytes for 10,000 calls").isLessThan(10_000);
    }
}
