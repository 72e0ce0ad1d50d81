package dev.rackcall.spring;

import dev.rackcall.metrics.CallMetrics;
import dev.rackcall.metrics.ChannelMetrics;
import dev.rackcall.metrics.IsolationMetrics;
import dev.rackcall.metrics.ServerMetrics;
import dev.rackcall.metrics.WaitMetrics;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcServer;
import io.micrometer.core.instrument.MeterRegistry;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.context.annotation.Bean;

/** Measures calls, servers and channels of an application that has {@code rackcall-metrics} and a registry. */
@AutoConfiguration(
        after = RackcallAutoConfiguration.class,
        afterName = "org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration")
@ConditionalOnClass({CallMetrics.class, MeterRegistry.class})
@ConditionalOnSingleCandidate(MeterRegistry.class)
@ConditionalOnBean(RpcServerLifecycle.class)
public class RackcallMetricsAutoConfiguration {
    /** For Spring. */
    public RackcallMetricsAutoConfiguration() {}

    @Bean
    @ConditionalOnMissingBean
    CallMetrics rackcallCallMetrics(MeterRegistry registry) {
        return new CallMetrics(registry);
    }

    @Bean
    Opened rackcallStateMetrics(MeterRegistry registry) {
        return new Opened() {
            @Override
            public void server(RpcServer server) {
                new ServerMetrics(server).bindTo(registry);
            }

            @Override
            public void channel(RpcChannel channel) {
                new ChannelMetrics(channel).bindTo(registry);
            }
        };
    }

    /** Spring Boot binds it. */
    @Bean
    @ConditionalOnMissingBean
    IsolationMetrics rackcallIsolationMetrics() {
        return new IsolationMetrics();
    }

    /** Spring Boot binds it. */
    @Bean
    @ConditionalOnMissingBean
    WaitMetrics rackcallWaitMetrics() {
        return new WaitMetrics();
    }
}
