package dev.rackcall.rpc;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Marks an interface as a service. The annotation processor writes its stub, its dispatcher and its layout fingerprint.
 *
 * <p>Every abstract method of the interface must carry {@link Rpc}.
 */
@Documented
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
public @interface RpcService {
    /** The channel's hierarchical name, for example {@code /shop/search}: segments of letters, digits, {@code . _ -}. */
    String value();

    /** Classes that travel by Kryo because they are neither records, enums, collections nor shared types. The order is part of the fingerprint. */
    Class<?>[] registered() default {};

    /** The isolation of methods that declare none. */
    Isolation isolation() default Isolation.DEFAULT;
}
