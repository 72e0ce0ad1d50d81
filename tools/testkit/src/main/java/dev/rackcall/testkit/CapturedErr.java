package dev.rackcall.testkit;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;

/** What the process writes to its standard error, where the tests' logger writes, until this is closed. */
public final class CapturedErr implements AutoCloseable {
    private final PrintStream before = System.err;
    private final ByteArrayOutputStream written = new ByteArrayOutputStream();

    private CapturedErr() {
        System.setErr(new PrintStream(written, true, StandardCharsets.UTF_8));
    }

    public static CapturedErr begin() {
        return new CapturedErr();
    }

    public String text() {
        return written.toString(StandardCharsets.UTF_8);
    }

    @Override
    public void close() {
        System.setErr(before);
    }
}
