package dev.rackcall.spring;

import dev.rackcall.rpc.ClientInterceptor;
import dev.rackcall.rpc.RpcChannel;
import java.net.URI;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.ObjectProvider;

/** The context's channels by name. Closed after the beans that use them. Thread-safe. */
final class RackcallChannels implements DisposableBean {
    private final RackcallProperties properties;
    private final ObjectProvider<ClientInterceptor> interceptors;
    private final ObjectProvider<RpcChannelCustomizer> customizers;
    private final ObjectProvider<Opened> watchers;
    private final ConcurrentMap<String, RpcChannel> open = new ConcurrentHashMap<>();

    RackcallChannels(
            RackcallProperties properties,
            ObjectProvider<ClientInterceptor> interceptors,
            ObjectProvider<RpcChannelCustomizer> customizers,
            ObjectProvider<Opened> watchers) {
        this.properties = properties;
        this.interceptors = interceptors;
        this.customizers = customizers;
        this.watchers = watchers;
    }

    /** Opens the channel unless it is open. */
    RpcChannel channel(String name) {
        return open.computeIfAbsent(name, this::open);
    }

    List<RpcChannel> all() {
        return List.copyOf(open.values());
    }

    private RpcChannel open(String name) {
        RpcChannel.Builder builder =
                RpcChannel.builder(name).defaultTimeout(properties.client().timeout());
        if (properties.runtimeFolder() != null) {
            builder.runtimeFolder(properties.runtimeFolder());
        }
        URI address = properties.client().addresses().get(name);
        if (address != null) {
            builder.address(address);
        } else if (properties.directory() != null) {
            builder.directory(properties.directory());
        }
        customizers.orderedStream().forEach(customizer -> customizer.customize(name, builder));
        interceptors.orderedStream().forEach(builder::interceptor);
        // Beans are made before the servers that they call, some of which lie in this context.
        RpcChannel channel = builder.openLazily();
        watchers.orderedStream().forEach(watcher -> watcher.channel(channel));
        return channel;
    }

    @Override
    public void destroy() {
        open.values().forEach(RpcChannel::close);
    }
}
