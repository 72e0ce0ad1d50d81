package dev.rackcall.rpc;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Marks a method of an {@link RpcService} as callable. The return type decides the style: a value or {@code void} is a
 * synchronous call, {@code CompletableFuture<T>} an asynchronous one, {@code Stream<T>} a server stream.
 */
@Documented
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.CLASS)
public @interface Rpc {
    /** The caller does not wait: no result, no error comes back. Only for {@code void} methods. */
    boolean oneWay() default false;

    /** Calling twice does no harm, so that the runtime may repeat the call after a lost connection. */
    boolean idempotent() default false;
}
