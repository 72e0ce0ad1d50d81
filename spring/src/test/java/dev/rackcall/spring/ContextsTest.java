package dev.rackcall.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import dev.rackcall.metrics.CallMetrics;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.ServerInterceptor;
import dev.rackcall.testkit.Await;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.io.InputStream;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.CustomAutowireConfigurer;
import org.springframework.beans.factory.annotation.QualifierAnnotationAutowireCandidateResolver;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.DependencyDescriptor;
import org.springframework.beans.factory.support.AutowireCandidateResolver;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.AnnotationConfigUtils;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.Scope;
import org.springframework.context.annotation.ScopedProxyMode;
import org.springframework.stereotype.Component;

/** What contexts may contain, and what their properties do. */
class ContextsTest {
    @TempDir
    private Path folder;

    private ApplicationContextRunner context(Class<?>... beans) {
        return new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(
                        RackcallAutoConfiguration.class,
                        RackcallHealthAutoConfiguration.class,
                        RackcallMetricsAutoConfiguration.class))
                .withUserConfiguration(beans)
                .withPropertyValues("rackcall.runtime-folder=" + folder);
    }

    /** Stands for a stub or a mock. */
    static class Stub implements Cart {
        @Override
        public int put(String good) {
            return 0;
        }
    }

    /** Its author has forgotten the annotation. */
    @Component
    static class Forgotten extends Stub {}

    /** A service's bean that is no handler. */
    @Configuration
    static class StubAsBean {
        @Bean
        Cart stub() {
            return new Stub();
        }
    }

    @Test
    void shouldFindComponentsThatAreNotServed() {
        context(Basket.class, StubAsBean.class)
                .run(context -> assertThat(
                                context.getBean(RpcServerLifecycle.class).unserved())
                        .isEmpty());
        context(Basket.class, Forgotten.class)
                .run(context -> assertThat(
                                context.getBean(RpcServerLifecycle.class).unserved())
                        .singleElement()
                        .isEqualTo("contextsTest.Forgotten"));
    }

    /** Calls. */
    static final class Caller {
        final Cart cart;

        Caller(@RpcClient Cart cart) {
            this.cart = cart;
        }
    }

    /** Two carts of one interface. */
    @Configuration(proxyBeanMethods = false)
    static class TwoCarts {
        @RpcHandler
        @Bean
        Cart first() {
            return new Basket();
        }

        @RpcHandler("${second.cart}")
        @Bean
        Cart second() {
            return new Basket();
        }

        @Bean
        List<Integer> puts(
                ObjectProvider<RpcServerLifecycle> server, @RpcClient("/shop/second") ObjectProvider<Cart> cart) {
            assertThat(server.getObject().server())
                    .as("the server before it starts")
                    .isEmpty();
            assertThat(cart.getObject()).isNotInstanceOf(Basket.class);
            return new ArrayList<>();
        }
    }

    @Test
    void shouldServeAndCallInOneContextWithoutActuatorAndMetrics() {
        context(Basket.class, Caller.class)
                .withClassLoader(new FilteredClassLoader(HealthIndicator.class, CallMetrics.class))
                .run(context -> {
                    assertThat(context.getBean(Caller.class).cart.put("tea")).isEqualTo(1);
                    assertThat(context.getBeansOfType(Opened.class)).isEmpty();
                    assertThat(context.containsBean("rackcallHealthIndicator")).isFalse();
                });
    }

    @Test
    void shouldServeTwoBeansUnderTwoNames() {
        context(TwoCarts.class)
                .withPropertyValues("second.cart=/shop/second")
                .run(context -> assertThat(server(context.getBean(RpcServerLifecycle.class))
                                .channels())
                        .containsExactlyInAnyOrder("/shop/cart", "/shop/second"));
    }

    /** A class that names its channel. */
    @RpcHandler("/shop/second")
    static class SecondBasket extends Basket {}

    @Test
    void shouldNotTakeTheChannelsNameForTheBeans() {
        context(SecondBasket.class).run(context -> {
            assertThat(context.getBeanNamesForType(SecondBasket.class))
                    .hasSize(1)
                    .noneMatch(name -> name.contains("/"));
            assertThat(server(context.getBean(RpcServerLifecycle.class)).channels())
                    .containsExactly("/shop/second");
        });
    }

    /** Another library's: knows the value of every int. */
    static final class SevenResolver implements AutowireCandidateResolver {
        @Override
        public Object getSuggestedValue(DependencyDescriptor dependency) {
            return dependency.getDependencyType() == int.class ? 7 : null;
        }

        @Override
        public String getSuggestedName(DependencyDescriptor dependency) {
            return dependency.getDependencyType() == String.class ? "tea" : null;
        }
    }

    /** Needs what only the other library's resolver knows. */
    static final class Needing {
        final String need;

        Needing(int count, String good) {
            need = count + " " + good;
        }
    }

    @Test
    void shouldWorkBesideTheResolverOfAnotherLibrary() {
        ApplicationContextRunner shared = context(Needing.class)
                .withBean(
                        BeanFactoryPostProcessor.class,
                        () -> beans ->
                                ((DefaultListableBeanFactory) beans).setAutowireCandidateResolver(new SevenResolver()))
                .withBean("milk", String.class, () -> "milk")
                .withBean("tea", String.class, () -> "tea");
        shared.run(context -> assertThat(context.getBean(Needing.class).need).isEqualTo("7 tea"));
        shared.withUserConfiguration(Basket.class, Caller.class).run(context -> {
            assertThat(context.getBean(Needing.class).need).isEqualTo("7 tea");
            Cart cart = context.getBean(Caller.class).cart;
            assertThat(cart).isNotInstanceOf(Basket.class);
            assertThat(cart.put("tea")).isEqualTo(1);
        });
    }

    /** Calls at last. */
    static final class LazyCaller {
        @Lazy
        @RpcClient
        Cart cart;
    }

    @Test
    void shouldLeaveToSpringWhatSpringsOwnResolverDoes() {
        context(Basket.class, LazyCaller.class).run(context -> {
            assertThat(context.getBean(RackcallChannels.class).all())
                    .as("channels before the first call")
                    .isEmpty();
            assertThat(context.getBean(LazyCaller.class).cart.put("tea")).isEqualTo(1);
            // As Spring's scanner does, for a library that finds its own components late.
            DefaultListableBeanFactory beans = (DefaultListableBeanFactory) context.getAutowireCapableBeanFactory();
            AnnotationConfigUtils.registerAnnotationConfigProcessors(beans);
            assertThat(beans.getAutowireCandidateResolver()).isInstanceOf(ClientResolver.class);
            DefaultListableBeanFactory copy = new DefaultListableBeanFactory(beans);
            copy.copyConfigurationFrom(beans);
            assertThat(copy.getAutowireCandidateResolver())
                    .isInstanceOf(ClientResolver.class)
                    .isNotSameAs(beans.getAutowireCandidateResolver());
        });
    }

    /** Tells goods apart, without Spring's {@code @Qualifier}. */
    @Retention(RetentionPolicy.RUNTIME)
    @interface Fresh {}

    /** Stands for Spring's {@code @Value}. */
    @Retention(RetentionPolicy.RUNTIME)
    @interface Setting {
        String value();
    }

    /** Needs what an application's own annotations choose. */
    static final class Choosing {
        final String chosen;

        Choosing(@Fresh String good, @Setting("${test.count}") int count) {
            chosen = count + " " + good;
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Goods {
        @Bean
        String tin() {
            return "tin";
        }

        @Fresh
        @Bean
        String milk() {
            return "milk";
        }
    }

    @Test
    void shouldPassCustomAnnotationsToSpringsOwnResolver() {
        context(Basket.class, Caller.class, Goods.class)
                .withPropertyValues("test.count=2")
                .run(context -> {
                    DefaultListableBeanFactory beans =
                            (DefaultListableBeanFactory) context.getAutowireCapableBeanFactory();
                    CustomAutowireConfigurer qualifiers = new CustomAutowireConfigurer();
                    qualifiers.setCustomQualifierTypes(Set.of(Fresh.class));
                    qualifiers.postProcessBeanFactory(beans);
                    assertThat(beans.getAutowireCandidateResolver()).isInstanceOf(ClientResolver.class);
                    ((QualifierAnnotationAutowireCandidateResolver) beans.getAutowireCandidateResolver())
                            .setValueAnnotationType(Setting.class);
                    assertThat(beans.createBean(Choosing.class).chosen).isEqualTo("2 milk");
                });
    }

    /** Behind a proxy. */
    @RpcHandler
    @Scope(scopeName = "prototype", proxyMode = ScopedProxyMode.TARGET_CLASS)
    static class ProxiedBasket extends Basket {}

    /** Behind a proxy of its interfaces. */
    @RpcHandler
    @Scope(scopeName = "prototype", proxyMode = ScopedProxyMode.INTERFACES)
    static class FacedBasket extends Basket {}

    @ParameterizedTest
    @ValueSource(classes = {ProxiedBasket.class, FacedBasket.class})
    void shouldServeAScopedBeanOnceByItsProxy(Class<?> bean) {
        context(bean, Caller.class).run(context -> {
            assertThat(server(context.getBean(RpcServerLifecycle.class)).channels())
                    .containsExactly("/shop/cart");
            assertThat(context.getBean(Caller.class).cart.put("tea")).isEqualTo(1);
            assertThat(context.getBean(Caller.class).cart.put("tea"))
                    .as("a call to another object of the scope")
                    .isEqualTo(1);
        });
    }

    @Test
    void shouldEndTheDrainBeforeSpringDestroysBeans() {
        ApplicationContextRunner patient = context(Basket.class).withPropertyValues("rackcall.server.drain=60");
        patient.run(context ->
                assertThat(context.getBean(RpcServerLifecycle.class).drain()).isEqualTo(Duration.ofSeconds(29)));
        patient.withPropertyValues("spring.lifecycle.timeout-per-shutdown-phase=5s")
                .run(context -> assertThat(
                                context.getBean(RpcServerLifecycle.class).drain())
                        .isEqualTo(Duration.ofSeconds(4)));
    }

    @Test
    void shouldBeOutOfServiceWhileStoppedAndServeAgain() {
        context(Basket.class, Caller.class).run(context -> {
            RpcServerLifecycle server = context.getBean(RpcServerLifecycle.class);
            HealthIndicator health = context.getBean(HealthIndicator.class);
            server.stop();
            assertThat(health.health().getDetails()).doesNotContainKey("server");
            assertThat(health.health().getStatus()).isNotEqualTo(Status.UP);
            server.start();
            assertThat(context.getBean(Caller.class).cart.put("tea")).isEqualTo(1);
            assertThat(health.health().getStatus()).isEqualTo(Status.UP);
        });
    }

    @Test
    void shouldStayAwayWhenItIsExcluded() {
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(
                        RackcallHealthAutoConfiguration.class, RackcallMetricsAutoConfiguration.class))
                .withBean(SimpleMeterRegistry.class)
                .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(HealthIndicator.class));
    }

    @Test
    void shouldRefuseAnAddressOfWhatIsNoChannel() {
        context(Caller.class)
                .withPropertyValues("rackcall.client.addresses.shopcart=soft://127.0.0.1:7")
                .run(context -> assertThat(context)
                        .getFailure()
                        .rootCause()
                        .hasMessageContainingAll("shopcart", "no channel's name", "addresses[/shop/cart]"));
    }

    @Test
    void shouldOpenNoChannelAfterItsEnd() {
        context().run(context -> {
            RackcallChannels channels = context.getBean(RackcallChannels.class);
            channels.destroy();
            assertThatIllegalStateException()
                    .isThrownBy(() -> channels.channel("/shop/cart"))
                    .withMessageContainingAll("/shop/cart", "the context is closed");
            assertThat(channels.all()).isEmpty();
        });
    }

    private static RpcServer server(RpcServerLifecycle bean) {
        return bean.server().orElseThrow();
    }

    @Test
    void shouldApplyCustomizers() {
        List<String> called = new CopyOnWriteArrayList<>();
        context(Basket.class, Caller.class)
                .withBean(
                        RpcServerCustomizer.class,
                        () -> server -> server.interceptor((call, next) -> {
                            called.add("server");
                            next.run();
                        }))
                .withBean(
                        RpcChannelCustomizer.class,
                        () -> (name, channel) -> channel.interceptor((call, next) -> {
                            called.add(name);
                            next.run();
                        }))
                .run(context -> {
                    assertThat(context.getBean(Caller.class).cart.put("tea")).isEqualTo(1);
                    assertThat(called).containsExactly("/shop/cart", "server");
                });
    }

    @Test
    void shouldRunHandlersOnVirtualThreadsIfTheApplicationUsesThem() {
        List<Boolean> virtual = new CopyOnWriteArrayList<>();
        ApplicationContextRunner context = context(Basket.class, Caller.class)
                .withBean(ServerInterceptor.class, () -> (call, next) -> {
                    virtual.add(Thread.currentThread().isVirtual());
                    next.run();
                });
        context.run(each -> each.getBean(Caller.class).cart.put("tea"));
        context.withPropertyValues("spring.threads.virtual.enabled=true")
                .run(each -> each.getBean(Caller.class).cart.put("tea"));
        assertThat(virtual).containsExactly(false, true);
    }

    @Test
    void shouldCallByAddress() {
        context(Basket.class)
                .withPropertyValues("rackcall.server.listen=soft://127.0.0.1:0")
                .run(serving -> {
                    URI address = server(serving.getBean(RpcServerLifecycle.class))
                            .addresses()
                            .getFirst();
                    context(Caller.class)
                            .withPropertyValues(
                                    "rackcall.runtime-folder=" + folder.resolve("other"),
                                    "rackcall.client.addresses[/shop/cart]=" + address)
                            .run(calling -> assertThat(
                                            calling.getBean(Caller.class).cart.put("tea"))
                                    .isEqualTo(1));
                });
    }

    @Test
    void shouldFindServersInADirectory() {
        String directory = "rackcall.directory=" + folder.resolve("directory").toUri();
        context(Basket.class)
                .withPropertyValues(directory)
                .run(_ -> context(Caller.class)
                        .withPropertyValues(directory)
                        .run(calling -> assertThat(
                                        calling.getBean(Caller.class).cart.put("tea"))
                                .isEqualTo(1)));
        // A server that closes waits for its withdrawal for a second at most.
        Await.deleted(folder.resolve("directory"));
    }

    /** Not a service. */
    @RpcHandler
    static final class Nothing {}

    /** Asks for what no server serves. */
    static final class Asking {
        Asking(@RpcClient String text) {
            assertThat(text).isNull();
        }
    }

    @Test
    void shouldSayWhatIsWrongWithABean() {
        context(Nothing.class)
                .run(context -> assertThat(context)
                        .getFailure()
                        .rootCause()
                        .hasMessageContainingAll(
                                "Nothing", "@RpcHandler", "must implement an interface with @RpcService"));
        context(Basket.class, TwoCarts.class)
                .withPropertyValues("second.cart=/shop/second")
                .run(context -> assertThat(context)
                        .getFailure()
                        .cause()
                        .hasMessageContainingAll("Basket", "@RpcHandler(channel = ...) gives it another name"));
        context(Asking.class)
                .run(context -> assertThat(context)
                        .getFailure()
                        .rootCause()
                        .hasMessageContainingAll("Asking", "@RpcClient is for interfaces with @RpcService", "String"));
    }

    @Test
    void shouldBindPropertiesAndDescribeThem() throws IOException {
        context()
                .withPropertyValues("rackcall.server.drain=3s", "rackcall.client.timeout=2m")
                .run(context -> {
                    RackcallProperties properties = context.getBean(RackcallProperties.class);
                    assertThat(properties.server().drain()).isEqualTo(Duration.ofSeconds(3));
                    assertThat(properties.client().timeout()).isEqualTo(Duration.ofMinutes(2));
                    assertThat(context.getBean(RpcServerLifecycle.class).isRunning())
                            .isFalse();
                });
        try (InputStream metadata =
                RackcallProperties.class.getResourceAsStream("/META-INF/spring-configuration-metadata.json")) {
            String text = new String(metadata.readAllBytes(), StandardCharsets.UTF_8);
            assertThat(text)
                    .contains(
                            "rackcall.runtime-folder",
                            "rackcall.directory",
                            "rackcall.server.listen",
                            "rackcall.client.addresses",
                            "management.health.rackcall.enabled",
                            "How long calls have to finish when the context closes");
        }
    }
}
