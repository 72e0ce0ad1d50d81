package dev.rackcall.spring;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.beans.factory.annotation.Autowired;

/**
 * Asks for a stub of an {@link dev.rackcall.rpc.RpcService} interface, in a bean's field or a parameter of its
 * constructor or {@code @Bean} method. All stubs of a channel in a context share one {@link
 * dev.rackcall.rpc.RpcChannel}, which a field or parameter of that type gets itself, for example to create scopes. The
 * context closes it.
 *
 * <pre>{@code
 * Checkout(@RpcClient Cart cart, @RpcClient("/shop/cart") RpcChannel channel) { ... }
 * }</pre>
 */
@Documented
@Autowired
@Target({ElementType.FIELD, ElementType.PARAMETER})
@Retention(RetentionPolicy.RUNTIME)
public @interface RpcClient {
    /** The channel's name, if not that of the service's annotation; may contain {@code ${...}}. */
    String value() default "";
}
