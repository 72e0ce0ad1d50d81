package dev.rackcall.spring;

import dev.rackcall.rpc.Dispatch;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.RpcService;
import dev.rackcall.rpc.ServerInterceptor;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.boot.thread.Threading;
import org.springframework.context.SmartLifecycle;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.env.Environment;
import org.springframework.util.ClassUtils;

/**
 * The context's server: serves the beans with {@link RpcHandler} from the end of the context's start to the beginning of
 * its shutdown, which waits for calls in flight for at most {@code rackcall.server.drain}. A context without such beans
 * has no server. A bean of the context. Thread-safe.
 */
public final class RpcServerLifecycle implements SmartLifecycle {
    /** The phase in which web servers drain, too: what needs no requests stops later. */
    private static final int PHASE = SmartLifecycle.DEFAULT_PHASE - 1024;

    private static final Logger LOG = LoggerFactory.getLogger(RpcServerLifecycle.class);

    private final ConfigurableListableBeanFactory beans;
    private final Environment environment;
    private final RackcallProperties properties;
    private final ObjectProvider<ServerInterceptor> interceptors;
    private final ObjectProvider<RpcServerCustomizer> customizers;
    private final ObjectProvider<Opened> watchers;
    private volatile RpcServer server;

    RpcServerLifecycle(
            ConfigurableListableBeanFactory beans,
            Environment environment,
            RackcallProperties properties,
            ObjectProvider<ServerInterceptor> interceptors,
            ObjectProvider<RpcServerCustomizer> customizers,
            ObjectProvider<Opened> watchers) {
        this.beans = beans;
        this.environment = environment;
        this.properties = properties;
        this.interceptors = interceptors;
        this.customizers = customizers;
        this.watchers = watchers;
    }

    /** The running server, for example to learn its addresses; empty before the start, after the stop, and without handlers. */
    public Optional<RpcServer> server() {
        return Optional.ofNullable(server);
    }

    @Override
    public void start() {
        String[] handlers = beans.getBeanNamesForAnnotation(RpcHandler.class);
        if (handlers.length == 0) {
            return;
        }
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
        RpcServer started = builder.start();
        server = started;
        watchers.orderedStream().forEach(watcher -> watcher.server(started));
        // The runtime's own threads let a program end, also one that has nothing to do but to serve.
        Thread.ofPlatform().name("rackcall-serve").start(() -> awaitEnd(started));
        LOG.info("Rackcall serves {}", started.channels());
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
                    described + " cannot be served; the value of its @RpcHandler is its channel's name", e);
        }
    }

    /** That of a {@code @Bean} method goes before that of the bean's class. */
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
        return beans.findAnnotationOnBean(bean, RpcHandler.class);
    }

    private static <S> void add(RpcServer.Builder builder, Class<S> service, Object bean, String channel) {
        if (channel.isEmpty()) {
            builder.service(service, service.cast(bean));
        } else {
            builder.service(service, service.cast(bean), channel);
        }
    }

    private static void awaitEnd(RpcServer server) {
        try {
            server.awaitTermination();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void stop() {
        RpcServer stopping = server;
        if (stopping == null) {
            return;
        }
        if (!stopping.shutdown(properties.server().drain())) {
            LOG.warn(
                    "calls to {} had not ended {} after the shutdown began, and were ended with UNAVAILABLE;"
                            + " rackcall.server.drain sets this time",
                    stopping.channels(),
                    properties.server().drain());
        }
        server = null;
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
