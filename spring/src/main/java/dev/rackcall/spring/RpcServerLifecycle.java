package dev.rackcall.spring;

import dev.rackcall.rpc.CallMeter;
import dev.rackcall.rpc.Dispatch;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.RpcService;
import dev.rackcall.rpc.ServerInterceptor;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.aop.scope.ScopedProxyUtils;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.thread.Threading;
import org.springframework.context.SmartLifecycle;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.env.Environment;
import org.springframework.stereotype.Component;
import org.springframework.util.ClassUtils;

/**
 * The context's server: serves the beans with {@link RpcHandler} from the end of the context's start to the beginning of
 * its shutdown, which waits for calls in flight for at most {@code rackcall.server.drain}. A context without such beans
 * has no server. A bean of the context. Thread-safe.
 */
public final class RpcServerLifecycle implements SmartLifecycle {
    /** The phase in which web servers drain, too. Beans without requests stop later. */
    private static final int PHASE = SmartLifecycle.DEFAULT_PHASE - 1024;

    /** Spring's limit for a phase of the shutdown. When it is over, Spring destroys the beans that handlers use. */
    private static final String PHASE_LIMIT = "spring.lifecycle.timeout-per-shutdown-phase";

    private static final Duration USUAL_PHASE_LIMIT = Duration.ofSeconds(30);
    /** For the end of the server after the drain. */
    private static final Duration PHASE_REST = Duration.ofSeconds(1);

    private static final Logger LOG = LoggerFactory.getLogger(RpcServerLifecycle.class);

    private final ConfigurableListableBeanFactory beans;
    private final Environment environment;
    private final RackcallProperties properties;
    private final ObjectProvider<ServerInterceptor> interceptors;
    private final ObjectProvider<CallMeter> meters;
    private final ObjectProvider<RpcServerCustomizer> customizers;
    private final ObjectProvider<Opened> watchers;
    private volatile RpcServer server;
    private volatile boolean stopping;
    private volatile boolean hasHandlers;

    RpcServerLifecycle(
            ConfigurableListableBeanFactory beans,
            Environment environment,
            RackcallProperties properties,
            ObjectProvider<ServerInterceptor> interceptors,
            ObjectProvider<CallMeter> meters,
            ObjectProvider<RpcServerCustomizer> customizers,
            ObjectProvider<Opened> watchers) {
        this.beans = beans;
        this.environment = environment;
        this.properties = properties;
        this.interceptors = interceptors;
        this.meters = meters;
        this.customizers = customizers;
        this.watchers = watchers;
    }

    /** The running server, for example to learn its addresses; empty before the start, after the stop, and without handlers. */
    public Optional<RpcServer> server() {
        return Optional.ofNullable(server);
    }

    /** Whether the context has beans to serve. */
    boolean hasHandlers() {
        return hasHandlers;
    }

    @Override
    public void start() {
        // A scoped bean has a second definition, of the object behind its proxy; the proxy is served.
        List<String> handlers = Stream.of(beans.getBeanNamesForAnnotation(RpcHandler.class))
                .map(name -> ScopedProxyUtils.isScopedTarget(name) ? ScopedProxyUtils.getOriginalBeanName(name) : name)
                .distinct()
                .toList();
        hasHandlers = !handlers.isEmpty();
        unserved()
                .forEach(name -> LOG.warn(
                        "the bean {} implements a service, but is not served; if it is a handler, annotate its class with @RpcHandler",
                        name));
        if (!hasHandlers) {
            return;
        }
        stopping = false;
        RpcServer.Builder builder = RpcServer.builder();
        for (String handler : handlers) {
            serve(builder, handler);
        }
        if (properties.runtimeFolder() != null) {
            builder.runtimeFolder(properties.runtimeFolder());
        }
        if (properties.directory() != null) {
            builder.directory(properties.directory());
        }
        properties.server().listen().forEach(builder::listen);
        if (properties.server().insecure()) {
            builder.insecure();
        }
        if (Threading.VIRTUAL.isActive(environment)) {
            builder.dispatch(Dispatch.virtualThreads());
        }
        customizers.orderedStream().forEach(customizer -> customizer.customize(builder));
        interceptors.orderedStream().forEach(builder::interceptor);
        meters.orderedStream().forEach(builder::meter);
        RpcServer started = builder.start();
        server = started;
        watchers.orderedStream().forEach(watcher -> watcher.server(started));
        // The runtime's threads are daemons. This one keeps the JVM alive.
        Thread.ofPlatform().name("rackcall-serve").start(() -> awaitEnd(started));
        LOG.info("Rackcall serves {}", started.channels());
    }

    /**
     * Components that implement a service and are no handlers: probably they were meant to be served. Stubs and mocks are no
     * components.
     */
    List<String> unserved() {
        return Stream.of(beans.getBeanNamesForAnnotation(Component.class))
                .filter(name -> beans.findAnnotationOnBean(name, RpcHandler.class) == null)
                .filter(name -> {
                    Class<?> type = beans.getType(name, false);
                    return type != null
                            && ClassUtils.getAllInterfacesForClassAsSet(type).stream()
                                    .anyMatch(each -> each.isAnnotationPresent(RpcService.class));
                })
                .toList();
    }

    private void serve(RpcServer.Builder builder, String name) {
        Object bean = beans.getBean(name);
        String described =
                "the bean " + name + " (" + AopUtils.getTargetClass(bean).getName() + ")";
        List<Class<?>> services = ClassUtils.getAllInterfacesForClassAsSet(AopUtils.getTargetClass(bean)).stream()
                .filter(type -> type.isAnnotationPresent(RpcService.class))
                .toList();
        String channel = beans.resolveEmbeddedValue(annotation(name).value());
        if (services.isEmpty() || (services.size() > 1 && !channel.isEmpty())) {
            throw new IllegalStateException(
                    described + " has @RpcHandler(\"" + channel + "\") and implements the services " + services
                            + "; it must implement an interface with @RpcService, and only one if it names a channel");
        }
        try {
            for (Class<?> service : services) {
                add(builder, service, bean, channel);
            }
        } catch (RpcException e) {
            throw new IllegalStateException(
                    described + " cannot be served; @RpcHandler(channel = ...) gives it another name", e);
        }
    }

    /** The annotation of a {@code @Bean} method takes precedence over that of the bean's class. */
    private RpcHandler annotation(String bean) {
        if (beans.containsBeanDefinition(bean)
                && beans.getMergedBeanDefinition(bean) instanceof RootBeanDefinition definition
                && definition.getResolvedFactoryMethod() != null) {
            RpcHandler ofMethod =
                    AnnotatedElementUtils.findMergedAnnotation(definition.getResolvedFactoryMethod(), RpcHandler.class);
            if (ofMethod != null) {
                return ofMethod;
            }
        }
        RpcHandler ofClass = beans.findAnnotationOnBean(bean, RpcHandler.class);
        return ofClass != null
                ? ofClass
                : beans.findAnnotationOnBean(ScopedProxyUtils.getTargetBeanName(bean), RpcHandler.class);
    }

    private static <S> void add(RpcServer.Builder builder, Class<S> service, Object bean, String channel) {
        if (channel.isEmpty()) {
            builder.service(service, service.cast(bean));
        } else {
            builder.service(service, service.cast(bean), channel);
        }
    }

    private void awaitEnd(RpcServer started) {
        try {
            started.awaitTermination();
            if (server == started && !stopping) {
                LOG.error("the server of {} has failed; the application serves nothing any more", started.channels());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void stop() {
        RpcServer ending = server;
        if (ending == null) {
            return;
        }
        stopping = true;
        Duration drain = drain();
        if (!ending.shutdown(drain)) {
            LOG.warn(
                    "calls to {} had not ended {} after the shutdown began, and were ended with UNAVAILABLE;"
                            + " rackcall.server.drain and"
                            + " spring.lifecycle.timeout-per-shutdown-phase set this time",
                    ending.channels(),
                    drain);
        }
        server = null;
    }

    /** Ends before Spring destroys the beans that handlers use. */
    Duration drain() {
        Duration limit = Binder.get(environment)
                .bind(PHASE_LIMIT, Duration.class)
                .orElse(USUAL_PHASE_LIMIT)
                .minus(PHASE_REST);
        Duration wanted = properties.server().drain();
        Duration most = limit.isNegative() ? Duration.ZERO : limit;
        return wanted.compareTo(most) < 0 ? wanted : most;
    }

    @Override
    public void stop(Runnable callback) {
        Thread.ofPlatform().name("rackcall-drain").start(() -> {
            try {
                stop();
            } finally {
                callback.run();
            }
        });
    }

    @Override
    public boolean isRunning() {
        return server != null;
    }

    @Override
    public int getPhase() {
        return PHASE;
    }
}
