package dev.rackcall.shm.codec;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.UUID;

/**
 * Encodes JDK values other than primitives. As everywhere in this package, the reader does not trust its input: an
 * invalid date is a {@link PayloadException}. Numbers are not checked. A {@link BigDecimal} with a scale of 2^31 - 1,
 * for example, is expensive to round to an integer.
 *
 * <table>
 * <caption>What lies in memory</caption>
 * <tr><th>value</th><th>fields</th></tr>
 * <tr><td>UUID</td><td>long most, long least significant bits</td></tr>
 * <tr><td>BigInteger</td><td>byte[] two's complement, big-endian</td></tr>
 * <tr><td>BigDecimal</td><td>int scale, BigInteger unscaled value</td></tr>
 * <tr><td>Duration, Instant</td><td>long seconds, int nanoseconds</td></tr>
 * <tr><td>LocalDate</td><td>long day since 1970-01-01</td></tr>
 * <tr><td>LocalTime</td><td>long nanosecond of the day</td></tr>
 * <tr><td>LocalDateTime</td><td>LocalDate, LocalTime</td></tr>
 * <tr><td>OffsetDateTime</td><td>LocalDateTime, int offset in seconds</td></tr>
 * </table>
 */
public final class JdkValues {
    private static final int NANOS_PER_SECOND = 1_000_000_000;

    private JdkValues() {}

    public static void writeUUID(PayloadWriter out, UUID value, String name) {
        PayloadWriter.required(value, name);
        out.writeLong(value.getMostSignificantBits());
        out.writeLong(value.getLeastSignificantBits());
    }

    public static UUID readUUID(PayloadReader in) {
        long most = in.readLong();
        return new UUID(most, in.readLong());
    }

    public static void writeBigInteger(PayloadWriter out, BigInteger value, String name) {
        out.writeBytes(PayloadWriter.required(value, name).toByteArray(), name);
    }

    public static BigInteger readBigInteger(PayloadReader in) {
        byte[] bytes = in.readBytes();
        if (bytes.length == 0) {
            throw new PayloadException("a BigInteger has no bytes; zero has one");
        }
        return new BigInteger(bytes);
    }

    public static void writeBigDecimal(PayloadWriter out, BigDecimal value, String name) {
        out.writeInt(PayloadWriter.required(value, name).scale());
        writeBigInteger(out, value.unscaledValue(), name);
    }

    public static BigDecimal readBigDecimal(PayloadReader in) {
        int scale = in.readInt();
        return new BigDecimal(readBigInteger(in), scale);
    }

    public static void writeDuration(PayloadWriter out, Duration value, String name) {
        PayloadWriter.required(value, name);
        out.writeLong(value.getSeconds());
        out.writeInt(value.getNano());
    }

    public static Duration readDuration(PayloadReader in) {
        long seconds = in.readLong();
        return Duration.ofSeconds(seconds, readNanos(in));
    }

    public static void writeInstant(PayloadWriter out, Instant value, String name) {
        PayloadWriter.required(value, name);
        out.writeLong(value.getEpochSecond());
        out.writeInt(value.getNano());
    }

    public static Instant readInstant(PayloadReader in) {
        long seconds = in.readLong();
        int nanos = readNanos(in);
        try {
            return Instant.ofEpochSecond(seconds, nanos);
        } catch (DateTimeException e) {
            throw new PayloadException("an Instant cannot be " + seconds + " seconds after 1970", e);
        }
    }

    private static int readNanos(PayloadReader in) {
        int nanos = in.readInt();
        if (nanos < 0 || nanos >= NANOS_PER_SECOND) {
            throw new PayloadException(nanos + " nanoseconds of a second");
        }
        return nanos;
    }

    public static void writeLocalDate(PayloadWriter out, LocalDate value, String name) {
        out.writeLong(PayloadWriter.required(value, name).toEpochDay());
    }

    public static LocalDate readLocalDate(PayloadReader in) {
        long day = in.readLong();
        try {
            return LocalDate.ofEpochDay(day);
        } catch (DateTimeException e) {
            throw new PayloadException("a LocalDate cannot be " + day + " days after 1970", e);
        }
    }

    public static void writeLocalTime(PayloadWriter out, LocalTime value, String name) {
        out.writeLong(PayloadWriter.required(value, name).toNanoOfDay());
    }

    public static LocalTime readLocalTime(PayloadReader in) {
        long nanos = in.readLong();
        try {
            return LocalTime.ofNanoOfDay(nanos);
        } catch (DateTimeException e) {
            throw new PayloadException("a LocalTime cannot be nanosecond " + nanos + " of the day", e);
        }
    }

    public static void writeLocalDateTime(PayloadWriter out, LocalDateTime value, String name) {
        writeLocalDate(out, PayloadWriter.required(value, name).toLocalDate(), name);
        writeLocalTime(out, value.toLocalTime(), name);
    }

    public static LocalDateTime readLocalDateTime(PayloadReader in) {
        LocalDate date = readLocalDate(in);
        return LocalDateTime.of(date, readLocalTime(in));
    }

    public static void writeOffsetDateTime(PayloadWriter out, OffsetDateTime value, String name) {
        writeLocalDateTime(out, PayloadWriter.required(value, name).toLocalDateTime(), name);
        out.writeInt(value.getOffset().getTotalSeconds());
    }

    public static OffsetDateTime readOffsetDateTime(PayloadReader in) {
        LocalDateTime dateTime = readLocalDateTime(in);
        int offset = in.readInt();
        try {
            return OffsetDateTime.of(dateTime, ZoneOffset.ofTotalSeconds(offset));
        } catch (DateTimeException e) {
            throw new PayloadException("an offset from UTC cannot be " + offset + " seconds", e);
        }
    }
}
