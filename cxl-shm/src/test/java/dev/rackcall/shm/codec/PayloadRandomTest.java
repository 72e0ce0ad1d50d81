package dev.rackcall.shm.codec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.ValueLayout;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Seeded random payloads. Reading returns what was written. Reading tampered bytes returns other values or throws the
 * documented exception.
 */
class PayloadRandomTest {
    private static final long SEED = Long.getLong("rackcall.seed", System.nanoTime());

    private final TestMemory memory = new TestMemory();

    @AfterEach
    void free() {
        memory.close();
    }

    /** A kind of value, with methods to create, write and read it. */
    private enum Kind {
        BOOLEAN,
        BYTE,
        SHORT,
        CHAR,
        INT,
        LONG,
        FLOAT,
        DOUBLE,
        STRING,
        BYTES,
        BOOLEANS,
        SHORTS,
        CHARS,
        INTS,
        LONGS,
        FLOATS,
        DOUBLES,
        ENUM,
        UUID,
        BIG_INTEGER,
        BIG_DECIMAL,
        DURATION,
        INSTANT,
        LOCAL_DATE,
        LOCAL_TIME,
        LOCAL_DATE_TIME,
        OFFSET_DATE_TIME;

        static final Kind[] ALL = values();
        static final TimeUnit[] UNITS = TimeUnit.values();

        Object make(Random random) {
            int length = random.nextInt(20);
            return switch (this) {
                case BOOLEAN -> random.nextBoolean();
                case BYTE -> (byte) random.nextInt();
                case SHORT -> (short) random.nextInt();
                case CHAR -> (char) random.nextInt();
                case INT -> random.nextInt();
                case LONG -> random.nextLong();
                case FLOAT -> random.nextFloat();
                case DOUBLE -> random.nextDouble();
                case STRING -> text(random, length);
                case BYTES -> bytes(random, length);
                case BOOLEANS -> {
                    boolean[] value = new boolean[length];
                    Arrays.fill(value, 0, length / 2, true);
                    yield value;
                }
                case SHORTS -> {
                    short[] value = new short[length];
                    Arrays.fill(value, (short) random.nextInt());
                    yield value;
                }
                case CHARS -> text(random, length).toCharArray();
                case INTS -> random.ints(length).toArray();
                case LONGS -> random.longs(length).toArray();
                case FLOATS -> {
                    float[] value = new float[length];
                    Arrays.fill(value, random.nextFloat());
                    yield value;
                }
                case DOUBLES -> random.doubles(length).toArray();
                case ENUM -> UNITS[random.nextInt(UNITS.length)];
                case UUID -> new UUID(random.nextLong(), random.nextLong());
                case BIG_INTEGER -> new BigInteger(bytes(random, length + 1));
                case BIG_DECIMAL -> new BigDecimal(new BigInteger(bytes(random, length + 1)), random.nextInt(100));
                case DURATION -> Duration.ofSeconds(random.nextInt(), random.nextInt(1_000_000_000));
                case INSTANT -> Instant.ofEpochSecond(random.nextInt(), random.nextInt(1_000_000_000));
                case LOCAL_DATE -> LocalDate.ofEpochDay(random.nextInt(1_000_000));
                case LOCAL_TIME -> LocalTime.ofSecondOfDay(random.nextInt(86_400));
                case LOCAL_DATE_TIME -> dateTime(random);
                case OFFSET_DATE_TIME ->
                    dateTime(random).atOffset(ZoneOffset.ofTotalSeconds(random.nextInt(36_000) - 18_000));
            };
        }

        private static LocalDateTime dateTime(Random random) {
            return LocalDateTime.ofEpochSecond(random.nextInt(), random.nextInt(1_000_000_000), ZoneOffset.UTC);
        }

        private static byte[] bytes(Random random, int length) {
            byte[] value = new byte[length];
            random.nextBytes(value);
            return value;
        }

        /** Characters of one to four UTF-8 bytes, mostly all ASCII. */
        private static String text(Random random, int length) {
            int[] limits = {0x80, 0x80, 0x800, 0xD800, 0x110000};
            StringBuilder text = new StringBuilder();
            int limit = limits[random.nextInt(limits.length)];
            while (text.length() < length) {
                int codePoint = random.nextInt(limit);
                if (codePoint < 0xD800 || codePoint > 0xDFFF) {
                    text.appendCodePoint(codePoint);
                }
            }
            return text.toString();
        }

        void write(PayloadWriter out, Object value) {
            switch (this) {
                case BOOLEAN -> out.writeBoolean((Boolean) value);
                case BYTE -> out.writeByte((Byte) value);
                case SHORT -> out.writeShort((Short) value);
                case CHAR -> out.writeChar((Character) value);
                case INT -> out.writeInt((Integer) value);
                case LONG -> out.writeLong((Long) value);
                case FLOAT -> out.writeFloat((Float) value);
                case DOUBLE -> out.writeDouble((Double) value);
                case STRING -> out.writeString((String) value, "value");
                case BYTES -> out.writeBytes((byte[]) value, "value");
                case BOOLEANS -> PrimitiveArrays.writeBooleans(out, (boolean[]) value, "value");
                case SHORTS -> PrimitiveArrays.writeShorts(out, (short[]) value, "value");
                case CHARS -> PrimitiveArrays.writeChars(out, (char[]) value, "value");
                case INTS -> PrimitiveArrays.writeInts(out, (int[]) value, "value");
                case LONGS -> PrimitiveArrays.writeLongs(out, (long[]) value, "value");
                case FLOATS -> PrimitiveArrays.writeFloats(out, (float[]) value, "value");
                case DOUBLES -> PrimitiveArrays.writeDoubles(out, (double[]) value, "value");
                case ENUM -> out.writeEnum((TimeUnit) value, "value");
                case UUID -> JdkValues.writeUUID(out, (UUID) value, "value");
                case BIG_INTEGER -> JdkValues.writeBigInteger(out, (BigInteger) value, "value");
                case BIG_DECIMAL -> JdkValues.writeBigDecimal(out, (BigDecimal) value, "value");
                case DURATION -> JdkValues.writeDuration(out, (Duration) value, "value");
                case INSTANT -> JdkValues.writeInstant(out, (Instant) value, "value");
                case LOCAL_DATE -> JdkValues.writeLocalDate(out, (LocalDate) value, "value");
                case LOCAL_TIME -> JdkValues.writeLocalTime(out, (LocalTime) value, "value");
                case LOCAL_DATE_TIME -> JdkValues.writeLocalDateTime(out, (LocalDateTime) value, "value");
                case OFFSET_DATE_TIME -> JdkValues.writeOffsetDateTime(out, (OffsetDateTime) value, "value");
            }
        }

        Object read(PayloadReader in) {
            return switch (this) {
                case BOOLEAN -> in.readBoolean();
                case BYTE -> in.readByte();
                case SHORT -> in.readShort();
                case CHAR -> in.readChar();
                case INT -> in.readInt();
                case LONG -> in.readLong();
                case FLOAT -> in.readFloat();
                case DOUBLE -> in.readDouble();
                case STRING -> in.readString();
                case BYTES -> in.readBytes();
                case BOOLEANS -> PrimitiveArrays.readBooleans(in);
                case SHORTS -> PrimitiveArrays.readShorts(in);
                case CHARS -> PrimitiveArrays.readChars(in);
                case INTS -> PrimitiveArrays.readInts(in);
                case LONGS -> PrimitiveArrays.readLongs(in);
                case FLOATS -> PrimitiveArrays.readFloats(in);
                case DOUBLES -> PrimitiveArrays.readDoubles(in);
                case ENUM -> in.readEnum(UNITS);
                case UUID -> JdkValues.readUUID(in);
                case BIG_INTEGER -> JdkValues.readBigInteger(in);
                case BIG_DECIMAL -> JdkValues.readBigDecimal(in);
                case DURATION -> JdkValues.readDuration(in);
                case INSTANT -> JdkValues.readInstant(in);
                case LOCAL_DATE -> JdkValues.readLocalDate(in);
                case LOCAL_TIME -> JdkValues.readLocalTime(in);
                case LOCAL_DATE_TIME -> JdkValues.readLocalDateTime(in);
                case OFFSET_DATE_TIME -> JdkValues.readOffsetDateTime(in);
            };
        }
    }

    private record Script(List<Kind> kinds, List<Object> values) {
        static Script of(Random random) {
            Script script = new Script(new ArrayList<>(), new ArrayList<>());
            int length = 1 + random.nextInt(12);
            for (int i = 0; i < length; i++) {
                Kind kind = Kind.ALL[random.nextInt(Kind.ALL.length)];
                script.kinds.add(kind);
                script.values.add(kind.make(random));
            }
            return script;
        }

        byte[] write(PayloadWriter out) {
            for (int i = 0; i < kinds.size(); i++) {
                kinds.get(i).write(out, values.get(i));
            }
            return TestMemory.bytes(out);
        }

        List<Object> read(PayloadReader in) {
            List<Object> read = new ArrayList<>();
            kinds.forEach(kind -> read.add(kind.read(in)));
            in.expectEnd();
            return read;
        }
    }

    @Test
    void shouldReadWhatItWrote() {
        Random random = new Random(SEED);
        for (int round = 0; round < 2_000; round++) {
            Script script = Script.of(random);
            PayloadWriter out = memory.writer(random.nextInt(64));
            script.write(out);
            assertThat(script.read(TestMemory.read(out)))
                    .as("seed %d, round %d, %s", SEED, round, script.kinds)
                    .usingRecursiveComparison()
                    .isEqualTo(script.values);
        }
    }

    @Test
    void shouldNoticeTheEndWhereverItComes() {
        Random random = new Random(SEED);
        for (int round = 0; round < 100; round++) {
            Script script = Script.of(random);
            PayloadWriter out = memory.writer(512);
            int length = script.write(out).length;
            for (int cut = 0; cut < length; cut++) {
                PayloadReader in = PayloadReader.create();
                in.begin(out.buffer(), 0, cut);
                assertThatThrownBy(() -> script.read(in))
                        .as("seed %d, round %d, %s, %d of %d bytes", SEED, round, script.kinds, cut, length)
                        .isInstanceOf(PayloadException.class);
            }
        }
    }

    @Test
    void shouldSurviveBytesThatNobodyWrote() {
        Random random = new Random(SEED);
        int refused = 0;
        for (int round = 0; round < 20_000; round++) {
            Script script = Script.of(random);
            PayloadWriter out = memory.writer(0);
            byte[] bytes = script.write(out);
            for (int changes = 1 + random.nextInt(4); changes > 0; changes--) {
                out.buffer().set(ValueLayout.JAVA_BYTE, random.nextInt(bytes.length), (byte) random.nextInt());
            }
            PayloadReader in = TestMemory.read(out);
            try {
                script.read(in);
            } catch (PayloadException e) {
                refused++;
            } catch (RuntimeException | Error e) {
                throw new AssertionError("seed " + SEED + ", round " + round + ", " + script.kinds + ": " + e, e);
            }
            assertThat(in.remaining()).isNotNegative();
        }
        assertThat(refused).as("tampered payloads that were noticed").isPositive();
    }
}
