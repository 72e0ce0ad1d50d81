package dev.rackcall.spring;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.context.annotation.Bean;

/** Adds {@code rackcall} to the health of an application with Spring Boot's Actuator. */
@AutoConfiguration(after = RackcallAutoConfiguration.class)
@ConditionalOnClass(HealthIndicator.class)
@ConditionalOnBean(RpcServerLifecycle.class)
@ConditionalOnEnabledHealthIndicator("rackcall")
public class RackcallHealthAutoConfiguration {
    /** For Spring. */
    public RackcallHealthAutoConfiguration() {}

    @Bean
    @ConditionalOnMissingBean(name = "rackcallHealthIndicator")
    HealthIndicator rackcallHealthIndicator(RpcServerLifecycle server, RackcallChannels channels) {
        return new RackcallHealth(server, channels);
    }
}
