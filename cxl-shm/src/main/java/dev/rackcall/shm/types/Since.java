package dev.rackcall.shm.types;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * For a getter of a {@link Shared} interface: a later version of the interface has added the field. It lies behind the
 * fields of earlier versions, so processes with the older and the newer version can use each other's objects. In an
 * object that an older version has created, the getter returns what it returns for a new object (0, false, an empty
 * text, no reference), and the setter throws an {@link UnsupportedOperationException}.
 *
 * <p>Once a version is in use, its fields stay as they are; the next fields get the next number.
 */
@Documented
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.CLASS)
public @interface Since {
    /** The number of the version, from 2; fields without this annotation are of version 1. */
    int value();
}
