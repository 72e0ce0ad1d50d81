package dev.rackcall.shm.codec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.ValueLayout;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.MonthDay;
import java.time.Period;
import java.time.Year;
import java.time.YearMonth;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Currency;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.Function;
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

    private static final TimeUnit[] UNITS = TimeUnit.values();
    private static final List<ZoneId> ZONES =
            List.of(ZoneId.of("Europe/Berlin"), ZoneId.of("Asia/Kathmandu"), ZoneOffset.UTC, ZoneId.of("UTC+01:30"));
    private static final List<Locale> LOCALES = List.of(
            Locale.ROOT,
            Locale.GERMANY,
            Locale.of("ja", "JP", "JP"),
            Locale.forLanguageTag("zh-Hant-TW"),
            Locale.forLanguageTag("en-US-u-ca-buddhist-x-private"));

    private interface Write<T> {
        void write(PayloadWriter out, T value, String name);
    }

    /** A kind of value: how to create, write and read it. */
    private record Kind<T>(String name, Function<Random, T> make, Write<T> write, Function<PayloadReader, T> read) {
        static final List<Kind<?>> ALL = List.of(
                plain("boolean", Random::nextBoolean, PayloadWriter::writeBoolean, PayloadReader::readBoolean),
                plain("byte", r -> (byte) r.nextInt(), PayloadWriter::writeByte, PayloadReader::readByte),
                plain("short", r -> (short) r.nextInt(), PayloadWriter::writeShort, PayloadReader::readShort),
                plain("char", r -> (char) r.nextInt(), PayloadWriter::writeChar, PayloadReader::readChar),
                plain("int", Random::nextInt, PayloadWriter::writeInt, PayloadReader::readInt),
                plain("long", Random::nextLong, PayloadWriter::writeLong, PayloadReader::readLong),
                plain("float", Random::nextFloat, PayloadWriter::writeFloat, PayloadReader::readFloat),
                plain("double", Random::nextDouble, PayloadWriter::writeDouble, PayloadReader::readDouble),
                new Kind<>("String", Kind::text, PayloadWriter::writeString, PayloadReader::readString),
                new Kind<>("bytes", r -> bytes(r, length(r)), PayloadWriter::writeBytes, PayloadReader::readBytes),
                new Kind<>("booleans", Kind::flags, PrimitiveArrays::writeBooleans, PrimitiveArrays::readBooleans),
                new Kind<>("shorts", Kind::shorts, PrimitiveArrays::writeShorts, PrimitiveArrays::readShorts),
                new Kind<>(
                        "chars", r -> text(r).toCharArray(), PrimitiveArrays::writeChars, PrimitiveArrays::readChars),
                new Kind<>(
                        "ints",
                        r -> r.ints(length(r)).toArray(),
                        PrimitiveArrays::writeInts,
                        PrimitiveArrays::readInts),
                new Kind<>(
                        "longs",
                        r -> r.longs(length(r)).toArray(),
                        PrimitiveArrays::writeLongs,
                        PrimitiveArrays::readLongs),
                new Kind<>("floats", Kind::floats, PrimitiveArrays::writeFloats, PrimitiveArrays::readFloats),
                new Kind<>(
                        "doubles",
                        r -> r.doubles(length(r)).toArray(),
                        PrimitiveArrays::writeDoubles,
                        PrimitiveArrays::readDoubles),
                new Kind<>(
                        "enum",
                        r -> UNITS[r.nextInt(UNITS.length)],
                        PayloadWriter::writeEnum,
                        in -> in.readEnum(UNITS)),
                new Kind<>(
                        "UUID", r -> new UUID(r.nextLong(), r.nextLong()), JdkValues::writeUUID, JdkValues::readUUID),
                new Kind<>("BigInteger", Kind::integer, JdkValues::writeBigInteger, JdkValues::readBigInteger),
                new Kind<>(
                        "BigDecimal",
                        r -> new BigDecimal(integer(r), r.nextInt(100)),
                        JdkValues::writeBigDecimal,
                        JdkValues::readBigDecimal),
                new Kind<>(
                        "Duration",
                        r -> Duration.ofSeconds(r.nextInt(), r.nextInt(1_000_000_000)),
                        JdkValues::writeDuration,
                        JdkValues::readDuration),
                new Kind<>(
                        "Instant",
                        r -> Instant.ofEpochSecond(r.nextInt(), r.nextInt(1_000_000_000)),
                        JdkValues::writeInstant,
                        JdkValues::readInstant),
                new Kind<>(
                        "LocalDate",
                        r -> LocalDate.ofEpochDay(r.nextInt(1_000_000)),
                        JdkValues::writeLocalDate,
                        JdkValues::readLocalDate),
                new Kind<>(
                        "LocalTime",
                        r -> LocalTime.ofSecondOfDay(r.nextInt(86_400)),
                        JdkValues::writeLocalTime,
                        JdkValues::readLocalTime),
                new Kind<>("LocalDateTime", Kind::time, JdkValues::writeLocalDateTime, JdkValues::readLocalDateTime),
                new Kind<>(
                        "OffsetDateTime",
                        r -> time(r).atOffset(ZoneOffset.ofTotalSeconds(r.nextInt(36_000) - 18_000)),
                        JdkValues::writeOffsetDateTime,
                        JdkValues::readOffsetDateTime),
                new Kind<>(
                        "OffsetTime",
                        r -> time(r).toLocalTime().atOffset(ZoneOffset.ofHours(r.nextInt(36) - 18)),
                        JdkValues::writeOffsetTime,
                        JdkValues::readOffsetTime),
                new Kind<>(
                        "ZonedDateTime",
                        r -> time(r).atZone(ZONES.get(r.nextInt(ZONES.size()))),
                        JdkValues::writeZonedDateTime,
                        JdkValues::readZonedDateTime),
                new Kind<>(
                        "ZoneId",
                        r -> ZONES.get(r.nextInt(ZONES.size())),
                        JdkValues::writeZoneId,
                        JdkValues::readZoneId),
                new Kind<>(
                        "ZoneOffset",
                        r -> ZoneOffset.ofTotalSeconds(r.nextInt(36_000) - 18_000),
                        JdkValues::writeZoneOffset,
                        JdkValues::readZoneOffset),
                new Kind<>(
                        "Period",
                        r -> Period.of(r.nextInt(), r.nextInt(), r.nextInt()),
                        JdkValues::writePeriod,
                        JdkValues::readPeriod),
                new Kind<>("Year", r -> Year.of(r.nextInt(9999)), JdkValues::writeYear, JdkValues::readYear),
                new Kind<>(
                        "YearMonth", r -> YearMonth.from(time(r)), JdkValues::writeYearMonth, JdkValues::readYearMonth),
                new Kind<>("MonthDay", r -> MonthDay.from(time(r)), JdkValues::writeMonthDay, JdkValues::readMonthDay),
                new Kind<>(
                        "URI",
                        r -> URI.create("http://h\u00f6st" + r.nextInt(9) + "/a%20b?c=" + r.nextInt() + "#d"),
                        JdkValues::writeURI,
                        JdkValues::readURI),
                new Kind<>(
                        "Locale",
                        r -> LOCALES.get(r.nextInt(LOCALES.size())),
                        JdkValues::writeLocale,
                        JdkValues::readLocale),
                new Kind<>(
                        "Currency",
                        r -> Currency.getInstance(List.of("EUR", "JPY", "XXX").get(r.nextInt(3))),
                        JdkValues::writeCurrency,
                        JdkValues::readCurrency));

        private static <T> Kind<T> plain(
                String name,
                Function<Random, T> make,
                BiConsumer<PayloadWriter, T> write,
                Function<PayloadReader, T> read) {
            return new Kind<>(name, make, (out, value, _) -> write.accept(out, value), read);
        }

        private static int length(Random random) {
            return random.nextInt(20);
        }

        private static boolean[] flags(Random random) {
            boolean[] value = new boolean[length(random)];
            Arrays.fill(value, 0, value.length / 2, true);
            return value;
        }

        private static short[] shorts(Random random) {
            short[] value = new short[length(random)];
            Arrays.fill(value, (short) random.nextInt());
            return value;
        }

        private static float[] floats(Random random) {
            float[] value = new float[length(random)];
            Arrays.fill(value, random.nextFloat());
            return value;
        }

        private static BigInteger integer(Random random) {
            return new BigInteger(bytes(random, length(random) + 1));
        }

        private static LocalDateTime time(Random random) {
            return LocalDateTime.ofEpochSecond(random.nextInt(), random.nextInt(1_000_000_000), ZoneOffset.UTC);
        }

        private static byte[] bytes(Random random, int length) {
            byte[] value = new byte[length];
            random.nextBytes(value);
            return value;
        }

        /** Characters of one to four UTF-8 bytes, mostly all ASCII. */
        private static String text(Random random) {
            int length = length(random);
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

        void writeTo(PayloadWriter out, Object value) {
            @SuppressWarnings("unchecked") // made by this kind
            T its = (T) value;
            write.write(out, its, "value");
        }

        @Override
        public String toString() {
            return name;
        }
    }

    private record Script(List<Kind<?>> kinds, List<Object> values) {
        static Script of(Random random) {
            Script script = new Script(new ArrayList<>(), new ArrayList<>());
            int length = 1 + random.nextInt(12);
            for (int i = 0; i < length; i++) {
                Kind<?> kind = Kind.ALL.get(random.nextInt(Kind.ALL.size()));
                script.kinds.add(kind);
                script.values.add(kind.make().apply(random));
            }
            return script;
        }

        byte[] write(PayloadWriter out) {
            for (int i = 0; i < kinds.size(); i++) {
                kinds.get(i).writeTo(out, values.get(i));
            }
            return TestMemory.bytes(out);
        }

        List<Object> read(PayloadReader in) {
            List<Object> read = new ArrayList<>();
            kinds.forEach(kind -> read.add(kind.read().apply(in)));
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
    void shouldSurviveTamperedBytes() {
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
