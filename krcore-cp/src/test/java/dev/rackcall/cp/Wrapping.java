package dev.rackcall.cp;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.concurrent.Callable;

/** Wraps an object of which a test changes some methods. */
public final class Wrapping {
    private Wrapping() {}

    /** Runs instead of each method. */
    @FunctionalInterface
    public interface Change {
        /** @param inner calls the wrapped object's method */
        Object call(String method, Object[] arguments, Callable<Object> inner) throws Exception;
    }

    public static <T> T of(Class<T> type, T wrapped, Change change) {
        return type.cast(Proxy.newProxyInstance(
                Wrapping.class.getClassLoader(), new Class<?>[] {type}, (proxy, method, arguments) -> {
                    try {
                        return change.call(method.getName(), arguments, () -> method.invoke(wrapped, arguments));
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                }));
    }
}
