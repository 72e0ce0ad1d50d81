package dev.rackcall.shm.types;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * For a {@code String} getter of a {@link Shared} interface: the text lies inside the record, as UTF-8 of at most
 * {@link #value} bytes. The setter rejects longer text with an {@link IllegalArgumentException} and allocates no arena
 * memory.
 */
@Documented
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.CLASS)
public @interface FixedString {
    /** Capacity in bytes of UTF-8, from 1 to 65,535. */
    int value();
}
