package dev.rackcall.shm.types;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * On a getter of a {@link Shared} interface that returns another one: its fields lie in this record. The getter returns a flyweight onto
 * them, through which they are changed; there is no setter. What lies in place has no Ref of its own.
 */
@Documented
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.CLASS)
public @interface Inline {}
