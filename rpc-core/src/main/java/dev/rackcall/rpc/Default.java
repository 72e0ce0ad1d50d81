package dev.rackcall.rpc;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * For a component that a later version of a record adds: the component's value in records from a peer whose version
 * lacks it. Records that are sent to such a peer omit the component. An {@code Optional} component needs no default,
 * since it is then empty.
 *
 * <pre>{@code
 * record Item(String name, @Default("1") int count, @Default("") List<String> tags) {}
 * }</pre>
 *
 * <p>The compiler checks the text. The default never affects records of peers that have the component.
 */
@Documented
@Target(ElementType.RECORD_COMPONENT)
@Retention(RetentionPolicy.CLASS)
public @interface Default {
    /**
     * The value as text: a number, {@code true} or {@code false}, a character, a string, the name of an enum constant,
     * or the empty text for an empty collection or array. Other types have no default.
     */
    String value();
}
