package dev.rackcall.spring;

import dev.rackcall.rpc.CallMeter;
import dev.rackcall.rpc.ClientInterceptor;
import dev.rackcall.rpc.ServerInterceptor;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.core.env.Environment;

/** Gives a context its server and its channels. */
@AutoConfiguration
@EnableConfigurationProperties(RackcallProperties.class)
public class RackcallAutoConfiguration {
    /** For Spring. */
    public RackcallAutoConfiguration() {}

    @Bean
    static BeanFactoryPostProcessor rackcallClientResolver() {
        return beans -> {
            DefaultListableBeanFactory factory = (DefaultListableBeanFactory) beans;
            factory.setAutowireCandidateResolver(new ClientResolver(factory.getAutowireCandidateResolver()));
        };
    }

    @Bean
    RackcallChannels rackcallChannels(
            RackcallProperties properties,
            ObjectProvider<ClientInterceptor> interceptors,
            ObjectProvider<CallMeter> meters,
            ObjectProvider<RpcChannelCustomizer> customizers,
            ObjectProvider<Opened> watchers) {
        return new RackcallChannels(properties, interceptors, meters, customizers, watchers);
    }

    @Bean
    RpcServerLifecycle rackcallServer(
            ConfigurableListableBeanFactory beans,
            Environment environment,
            RackcallProperties properties,
            ObjectProvider<ServerInterceptor> interceptors,
            ObjectProvider<CallMeter> meters,
            ObjectProvider<RpcServerCustomizer> customizers,
            ObjectProvider<Opened> watchers) {
        return new RpcServerLifecycle(beans, environment, properties, interceptors, meters, customizers, watchers);
    }
}
