package dev.rackcall.shm.types;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * For a getter of a {@link Shared} interface that returns {@link SharedBytes} or one of the {@code Shared...Array}
 * types: the elements lie in this record. The getter returns a flyweight on them; there is no setter. An embedded array
 * has no Ref of its own.
 */
@Documented
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.CLASS)
public @interface Length {
    /** Number of elements, at least 1. */
    int value();
}
