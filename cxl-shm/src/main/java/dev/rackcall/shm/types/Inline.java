package dev.rackcall.shm.types;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * For a getter of a {@link Shared} interface that returns another such interface: the fields of that type lie in this
 * record. The getter returns a flyweight on them; there is no setter. An embedded object has no Ref of its own.
 */
@Documented
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.CLASS)
public @interface Inline {}
