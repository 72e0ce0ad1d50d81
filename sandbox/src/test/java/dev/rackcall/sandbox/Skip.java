package dev.rackcall.sandbox;

import dev.rackcall.sandbox.os.UnsupportedFeatureException;
import java.util.function.Supplier;
import org.opentest4j.TestAbortedException;

/** Skips a test aloud, since a feature that was not tested must not pass for one that was. */
public final class Skip {
    private Skip() {}

    /** What {@code feature} gives, or the end of this test with the reason on standard error. */
    public static <T> T unless(Supplier<T> feature) {
        try {
            return feature.get();
        } catch (UnsupportedFeatureException e) {
            throw because(e.getMessage());
        }
    }

    /** What to throw to end this test. */
    public static TestAbortedException because(String reason) {
        String test = StackWalker.getInstance()
                .walk(frames -> frames.filter(frame -> frame.getClassName().endsWith("Test"))
                        .findFirst()
                        .map(frame -> frame.getClassName() + "." + frame.getMethodName())
                        .orElse("a test"));
        System.err.println("SKIPPED " + test + ": " + reason);
        return new TestAbortedException(reason);
    }
}
