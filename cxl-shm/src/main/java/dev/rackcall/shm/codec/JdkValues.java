package dev.rackcall.shm.codec;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.net.URI;
import java.net.URISyntaxException;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.MonthDay;
import java.time.OffsetDateTime;
import java.time.OffsetTime;
import java.time.Period;
import java.time.Year;
import java.time.YearMonth;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.Currency;
import java.util.Locale;
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
 * <tr><td>OffsetTime</td><td>LocalTime, int offset in seconds</td></tr>
 * <tr><td>ZonedDateTime</td><td>OffsetDateTime, ZoneId</td></tr>
 * <tr><td>Period</td><td>int years, int months, int days</td></tr>
 * <tr><td>Year</td><td>int</td></tr>
 * <tr><td>YearMonth, MonthDay</td><td>int, int</td></tr>
 * <tr><td>ZoneOffset</td><td>int seconds</td></tr>
 * <tr><td>ZoneId, URI, Currency</td><td>String</td></tr>
 * <tr><td>Locale</td><td>String: its IETF language tag</td></tr>
 * </table>
 */
public final class JdkValues {
    private static final int NANOS_PER_SECOND = 1_000_000_000;
    private static final int MAX_QUOTED = 60;

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
        writeZoneOffset(out, value.getOffset(), name);
    }

    public static OffsetDateTime readOffsetDateTime(PayloadReader in) {
        LocalDateTime dateTime = readLocalDateTime(in);
        return OffsetDateTime.of(dateTime, readZoneOffset(in));
    }

    public static void writeOffsetTime(PayloadWriter out, OffsetTime value, String name) {
        writeLocalTime(out, PayloadWriter.required(value, name).toLocalTime(), name);
        writeZoneOffset(out, value.getOffset(), name);
    }

    public static OffsetTime readOffsetTime(PayloadReader in) {
        LocalTime time = readLocalTime(in);
        return OffsetTime.of(time, readZoneOffset(in));
    }

    public static void writeZoneOffset(PayloadWriter out, ZoneOffset value, String name) {
        out.writeInt(PayloadWriter.required(value, name).getTotalSeconds());
    }

    public static ZoneOffset readZoneOffset(PayloadReader in) {
        int offset = in.readInt();
        try {
            return ZoneOffset.ofTotalSeconds(offset);
        } catch (DateTimeException e) {
            throw new PayloadException("an offset from UTC cannot be " + offset + " seconds", e);
        }
    }

    public static void writeZoneId(PayloadWriter out, ZoneId value, String name) {
        out.writeString(PayloadWriter.required(value, name).getId(), name);
    }

    public static ZoneId readZoneId(PayloadReader in) {
        String id = in.readString();
        try {
            return ZoneId.of(id);
        } catch (DateTimeException e) {
            throw new PayloadException("this JVM knows no time zone '" + quoted(id) + "'; it may need a newer JDK", e);
        }
    }

    public static void writeZonedDateTime(PayloadWriter out, ZonedDateTime value, String name) {
        writeOffsetDateTime(out, PayloadWriter.required(value, name).toOffsetDateTime(), name);
        writeZoneId(out, value.getZone(), name);
    }

    /** The same instant, even if the two JVMs have different rules for the zone. */
    public static ZonedDateTime readZonedDateTime(PayloadReader in) {
        OffsetDateTime dateTime = readOffsetDateTime(in);
        ZoneId zone = readZoneId(in);
        try {
            return ZonedDateTime.ofInstant(dateTime.toLocalDateTime(), dateTime.getOffset(), zone);
        } catch (DateTimeException e) {
            throw new PayloadException("the ZonedDateTime " + dateTime + " does not exist in its zone", e);
        }
    }

    public static void writePeriod(PayloadWriter out, Period value, String name) {
        out.writeInt(PayloadWriter.required(value, name).getYears());
        out.writeInt(value.getMonths());
        out.writeInt(value.getDays());
    }

    public static Period readPeriod(PayloadReader in) {
        int years = in.readInt();
        int months = in.readInt();
        return Period.of(years, months, in.readInt());
    }

    public static void writeYear(PayloadWriter out, Year value, String name) {
        out.writeInt(PayloadWriter.required(value, name).getValue());
    }

    public static Year readYear(PayloadReader in) {
        int year = in.readInt();
        try {
            return Year.of(year);
        } catch (DateTimeException e) {
            throw new PayloadException("a Year cannot be " + year, e);
        }
    }

    public static void writeYearMonth(PayloadWriter out, YearMonth value, String name) {
        out.writeInt(PayloadWriter.required(value, name).getYear());
        out.writeInt(value.getMonthValue());
    }

    public static YearMonth readYearMonth(PayloadReader in) {
        int year = in.readInt();
        int month = in.readInt();
        try {
            return YearMonth.of(year, month);
        } catch (DateTimeException e) {
            throw new PayloadException("a YearMonth cannot be month " + month + " of year " + year, e);
        }
    }

    public static void writeMonthDay(PayloadWriter out, MonthDay value, String name) {
        out.writeInt(PayloadWriter.required(value, name).getMonthValue());
        out.writeInt(value.getDayOfMonth());
    }

    public static MonthDay readMonthDay(PayloadReader in) {
        int month = in.readInt();
        int day = in.readInt();
        try {
            return MonthDay.of(month, day);
        } catch (DateTimeException e) {
            throw new PayloadException("a MonthDay cannot be day " + day + " of month " + month, e);
        }
    }

    public static void writeURI(PayloadWriter out, URI value, String name) {
        out.writeString(PayloadWriter.required(value, name).toString(), name);
    }

    public static URI readURI(PayloadReader in) {
        String text = in.readString();
        try {
            return new URI(text);
        } catch (URISyntaxException e) {
            throw new PayloadException("'" + quoted(text) + "' is not a URI", e);
        }
    }

    public static void writeCurrency(PayloadWriter out, Currency value, String name) {
        out.writeString(PayloadWriter.required(value, name).getCurrencyCode(), name);
    }

    public static Currency readCurrency(PayloadReader in) {
        String code = in.readString();
        try {
            return Currency.getInstance(code);
        } catch (IllegalArgumentException e) {
            throw new PayloadException("this JVM knows no currency '" + quoted(code) + "'", e);
        }
    }

    /** Refuses the few locales that no language tag denotes, such as those with a malformed variant. */
    public static void writeLocale(PayloadWriter out, Locale value, String name) {
        String tag = PayloadWriter.required(value, name).toLanguageTag();
        if (!Locale.forLanguageTag(tag).equals(value)) {
            throw new PayloadException(name + " is the locale '" + quoted(value.toString())
                    + "', which no language tag denotes; build it by Locale.forLanguageTag or Locale.Builder");
        }
        out.writeString(tag, name);
    }

    public static Locale readLocale(PayloadReader in) {
        String tag = in.readString();
        Locale locale = Locale.forLanguageTag(tag);
        if (!locale.toLanguageTag().equals(tag)) {
            throw new PayloadException("'" + quoted(tag) + "' is not a language tag of a Locale");
        }
        return locale;
    }

    /** A peer's text for a message: bounded, and without control characters. */
    private static String quoted(String text) {
        String some = text.length() <= MAX_QUOTED ? text : text.substring(0, MAX_QUOTED) + "...";
        return some.replaceAll("\\p{Cntrl}", "?");
    }
}
