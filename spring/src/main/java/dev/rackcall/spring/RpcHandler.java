package dev.rackcall.spring;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.core.annotation.AliasFor;
import org.springframework.stereotype.Component;

/**
 * Marks a bean that implements one or more {@link dev.rackcall.rpc.RpcService} interfaces, as a class or at a {@code
 * @Bean} method. The context's server serves it. Calls of many threads reach the bean at once.
 *
 * <pre>{@code
 * @RpcHandler
 * class Basket implements Cart { ... }
 * }</pre>
 */
@Documented
@Component
@Target({ElementType.TYPE, ElementType.METHOD})
@Retention(RetentionPolicy.RUNTIME)
public @interface RpcHandler {
    /** Short for {@link #channel}. Without an alias, Spring would take it for the bean's name. */
    @AliasFor("channel")
    String value() default "";

    /**
     * The channel's name, if not that of the service's annotation; may contain {@code ${...}}. Only for beans with one
     * service.
     */
    @AliasFor("value")
    String channel() default "";

    /** The bean's name, if it is a class; chosen by Spring by default. */
    @AliasFor(annotation = Component.class, attribute = "value")
    String beanName() default "";
}
