package dev.rackcall.rpc.runtime;

import com.esotericsoftware.kryo.Kryo;
import com.esotericsoftware.kryo.KryoException;
import com.esotericsoftware.kryo.Registration;
import com.esotericsoftware.kryo.io.KryoBufferOverflowException;
import com.esotericsoftware.kryo.io.Output;
import com.esotericsoftware.kryo.serializers.DefaultSerializers;
import com.esotericsoftware.kryo.util.DefaultInstantiatorStrategy;
import com.esotericsoftware.kryo.util.Util;
import dev.rackcall.shm.codec.ObjectCodec;
import dev.rackcall.shm.codec.PayloadException;
import dev.rackcall.shm.codec.PayloadReader;
import dev.rackcall.shm.codec.PayloadWriter;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.net.URI;
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
import java.util.BitSet;
import java.util.Currency;
import java.util.Date;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.UUID;
import org.jctools.queues.varhandle.MpmcVarHandleArrayQueue;
import org.objenesis.strategy.StdInstantiatorStrategy;

/**
 * The part of {@link KryoCodec} that uses Kryo. Only this class and its serializers load Kryo, when the first object is
 * encoded or decoded.
 *
 * <p>Kryo works on a private copy, never on a peer's memory: it reads some bytes twice, and a hostile peer could change
 * them in between.
 *
 * <p>Thread-safe. A {@code Kryo} is not, so a few are kept and each object takes one; more are created when more
 * threads encode at once.
 */
final class KryoObjects implements ObjectCodec {
    private static final int KEPT = 32;
    private static final int KEPT_BUFFER = 64 * 1024;
    private static final int MAX_BYTES = 64 * 1024 * 1024;
    private static final int MAX_DEPTH = 256;

    static {
        // Set before Kryo reads it: with Unsafe, Kryo would store a peer's object into a field without checking its
        // class, so that a hostile peer could corrupt this heap.
        if (System.getProperty("kryo.unsafe") == null) {
            System.setProperty("kryo.unsafe", "false");
        }
    }

    private final List<Class<?>> registered;
    private final MpmcVarHandleArrayQueue<Coder> idle = new MpmcVarHandleArrayQueue<>(KEPT);

    /**
     * For these classes; the order is part of the format.
     *
     * @throws IllegalStateException if other code made Kryo use Unsafe
     */
    KryoObjects(List<Class<?>> registered) {
        if (Util.unsafe) {
            throw new IllegalStateException("other code of this process initialised Kryo with Unsafe, which lets a peer"
                    + " corrupt the heap; start the JVM with -Dkryo.unsafe=false");
        }
        this.registered = registered;
    }

    @Override
    public void write(Object value, PayloadWriter out) {
        Coder coder = take();
        try {
            coder.output.reset();
            coder.kryo.writeClassAndObject(coder.output, value);
        } catch (KryoBufferOverflowException e) {
            throw new PayloadException(
                    "a " + value.getClass().getName() + " takes more than " + MAX_BYTES
                            + " bytes by Kryo; pass such structures as shared objects",
                    e);
        } catch (RuntimeException | StackOverflowError e) {
            throw failure("a " + value.getClass().getName() + " cannot be encoded", e);
        }
        out.writeBytes(coder.output.getBuffer(), 0, coder.output.position());
        give(coder);
    }

    @Override
    public Object read(PayloadReader in) {
        byte[] bytes = in.readBytes();
        Coder coder = take();
        Object value;
        try {
            coder.input.setBuffer(bytes);
            value = coder.kryo.readClassAndObject(coder.input);
        } catch (RuntimeException | StackOverflowError e) {
            throw failure("an object of " + bytes.length + " bytes cannot be decoded", e);
        }
        if (value == null || coder.input.position() != bytes.length) {
            throw new PayloadException("an object of " + bytes.length + " bytes is "
                    + (value == null
                            ? "null"
                            : value.getClass().getName() + " in " + coder.input.position() + " bytes"));
        }
        give(coder);
        return value;
    }

    /** Kryo's exception as one sentence: Kryo wraps a field's exception once per level. */
    private static PayloadException failure(String what, Throwable thrown) {
        for (Throwable cause = thrown; cause != null; cause = cause.getCause()) {
            if (cause instanceof PayloadException e) {
                return new PayloadException(what + ": " + e.getMessage(), thrown);
            }
        }
        String why = thrown instanceof KryoException && thrown.getMessage() != null
                ? thrown.getMessage().replace('\n', ' ')
                : thrown.toString();
        return new PayloadException(what + ": " + why, thrown);
    }

    private Coder take() {
        Coder coder = idle.poll();
        return coder == null ? new Coder(registered) : coder;
    }

    /** Keeps a coder for reuse, only after success: after a failure its Kryo may still hold part of a graph. */
    private void give(Coder coder) {
        coder.input.setBuffer(Coder.NO_BYTES);
        if (coder.output.getBuffer().length <= KEPT_BUFFER) {
            idle.offer(coder);
        }
    }

    private static final class Coder {
        static final byte[] NO_BYTES = {};

        final Kryo kryo = new RegisteredKryo();
        final Output output = new Output(256, MAX_BYTES);
        final BoundedInput input = new BoundedInput();

        Coder(List<Class<?>> registered) {
            kryo.setReferences(true);
            kryo.setRegistrationRequired(true);
            kryo.setMaxDepth(MAX_DEPTH);
            kryo.setInstantiatorStrategy(new DefaultInstantiatorStrategy(new StdInstantiatorStrategy()));
            registerBasics(kryo);
            ContainerSerializers.register(kryo);
            for (Class<?> type : registered) {
                boolean known = kryo.getClassResolver().getRegistration(type) != null;
                if (!known && !ContainerSerializers.register(kryo, type)) {
                    kryo.register(type);
                }
            }
        }
    }

    /**
     * JDK values that a registered class may hold besides strings, boxes and the usual collections. The order is part
     * of the format.
     */
    private static void registerBasics(Kryo kryo) {
        for (Class<?> type : List.of(
                byte[].class,
                boolean[].class,
                short[].class,
                char[].class,
                int[].class,
                long[].class,
                float[].class,
                double[].class,
                BigInteger.class,
                BigDecimal.class,
                Duration.class,
                Instant.class,
                LocalDate.class,
                LocalTime.class,
                LocalDateTime.class,
                OffsetDateTime.class,
                OffsetTime.class,
                ZonedDateTime.class,
                ZoneOffset.class,
                Period.class,
                Year.class,
                YearMonth.class,
                MonthDay.class,
                Locale.class,
                Currency.class,
                Date.class,
                BitSet.class,
                Optional.class)) {
            kryo.register(type);
        }
        kryo.register(UUID.class, new DefaultSerializers.UUIDSerializer());
        kryo.register(URI.class, new DefaultSerializers.URISerializer());
        // The hidden class of all zones that are not plain offsets.
        kryo.register(ZoneId.of("Europe/Berlin").getClass());
    }

    /** Names where to register an unregistered class. */
    private static final class RegisteredKryo extends Kryo {
        @Override
        @SuppressWarnings("rawtypes") // as Kryo declares it
        public Registration getRegistration(Class type) {
            try {
                return super.getRegistration(type);
            } catch (IllegalArgumentException e) {
                throw new PayloadException(
                        "class " + type.getName()
                                + " is not registered: list it in @RpcService(registered = ...) of the service, at both ends",
                        e);
            }
        }
    }
}
