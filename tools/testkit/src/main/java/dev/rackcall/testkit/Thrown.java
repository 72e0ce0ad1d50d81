package dev.rackcall.testkit;

/** Expects failures. */
public final class Thrown {
    /** What is to fail. */
    public interface Call {
        void run() throws Throwable;
    }

    private Thrown() {}

    /** Expects a failure of this type whose message contains all these parts. */
    public static void assertThrown(Class<? extends Throwable> type, Call call, String... parts) {
        Throwable thrown = thrownBy(call);
        if (thrown == null) {
            throw new AssertionError("no " + type.getName());
        }
        if (!type.isInstance(thrown)) {
            throw new AssertionError("not a " + type.getName() + ": " + thrown, thrown);
        }
        for (String part : parts) {
            if (!String.valueOf(thrown.getMessage()).contains(part)) {
                throw new AssertionError("the message lacks '" + part + "': " + thrown, thrown);
            }
        }
    }

    private static Throwable thrownBy(Call call) {
        try {
            call.run();
            return null;
        } catch (Throwable t) {
            return t;
        }
    }
}
