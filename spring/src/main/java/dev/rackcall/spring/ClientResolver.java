package dev.rackcall.spring;

import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcService;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.beans.factory.config.DependencyDescriptor;
import org.springframework.context.annotation.ContextAnnotationAutowireCandidateResolver;

/** Gives fields and parameters with {@link RpcClient} their stubs, as Spring gives those with {@code @Value} their values. */
final class ClientResolver extends ContextAnnotationAutowireCandidateResolver {
    @Override
    public Object getSuggestedValue(DependencyDescriptor dependency) {
        RpcClient client = dependency.getAnnotation(RpcClient.class);
        return client == null ? super.getSuggestedValue(dependency) : client(client, dependency);
    }

    private Object client(RpcClient client, DependencyDescriptor dependency) {
        ConfigurableBeanFactory beans = (ConfigurableBeanFactory) getBeanFactory();
        RackcallChannels channels = beans.getBean(RackcallChannels.class);
        Class<?> type = dependency.getDependencyType();
        String name = beans.resolveEmbeddedValue(client.value());
        if (type == RpcChannel.class && !name.isEmpty()) {
            return channels.channel(name);
        }
        RpcService service = type.getAnnotation(RpcService.class);
        if (service == null) {
            throw new IllegalStateException(
                    dependency.getMember() + ": @RpcClient is for interfaces with @RpcService, and with a"
                            + " channel's name for RpcChannel, not for " + type.getName());
        }
        return channels.channel(name.isEmpty() ? service.value() : name).stub(type);
    }
}
