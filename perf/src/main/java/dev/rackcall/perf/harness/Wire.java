package dev.rackcall.perf.harness;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.UncheckedIOException;
import java.util.Base64;

/**
 * Objects as lines of text, for the pipes between a run's JVMs. A line in between, such as a warning of the JVM, stays
 * readable.
 */
final class Wire {
    /** The JVM is ready for orders. */
    static final String READY = "ready";
    /** The order was carried out; the answer follows. */
    static final String OK = "ok ";
    /** The order failed; the reason follows. */
    static final String FAILED = "failed ";
    /** The last order. */
    static final String QUIT = "quit";

    private Wire() {}

    static String encode(Object value) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
            out.writeObject(value);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return Base64.getEncoder().encodeToString(bytes.toByteArray());
    }

    static Object decode(String line) {
        try (ObjectInputStream in = new ObjectInputStream(
                new ByteArrayInputStream(Base64.getDecoder().decode(line)))) {
            return in.readObject();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (ClassNotFoundException e) {
            throw new IllegalStateException("the run's JVMs have different class paths", e);
        }
    }
}
