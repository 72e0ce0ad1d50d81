package dev.rackcall.spring;

import dev.rackcall.rpc.CallMeter;
import dev.rackcall.rpc.ClientInterceptor;
import dev.rackcall.rpc.RpcChannel;
import java.net.URI;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.ObjectProvider;

/** The context's channels by name. Closed after the beans that use them. Thread-safe. */
final class RackcallChannels implements DisposableBean {
    private final RackcallProperties properties;
    private final ObjectProvider<ClientInterceptor> interceptors;
    private final ObjectProvider<CallMeter> meters;
    private final ObjectProvider<RpcChannelCustomizer> customizers;
    private final ObjectProvider<Opened> watchers;
    private final Map<String, RpcChannel> open = new ConcurrentHashMap<>();
    private volatile boolean closed;

    RackcallChannels(
            RackcallProperties properties,
            ObjectProvider<ClientInterceptor> interceptors,
            ObjectProvider<CallMeter> meters,
            ObjectProvider<RpcChannelCustomizer> customizers,
            ObjectProvider<Opened> watchers) {
        this.properties = properties;
        this.interceptors = interceptors;
        this.meters = meters;
        this.customizers = customizers;
        this.watchers = watchers;
        properties.client().addresses().keySet().forEach(RackcallChannels::requireName);
    }

    /** Spring drops the slashes of a key without brackets, and the channel would be looked for on this host. */
    private static void requireName(String key) {
        if (!key.startsWith("/")) {
            throw new IllegalStateException("rackcall.client.addresses has the key " + key
                    + ", which is no channel's name; write it in brackets: rackcall.client.addresses[/shop/cart]=...,"
                    + " in YAML \"[/shop/cart]\": ...");
        }
    }

    /** Opens the channel unless it is open. Refuses after {@link #destroy}, which does not run again. */
    RpcChannel channel(String name) {
        requireOpen(name);
        RpcChannel present = open.get(name);
        if (present != null) {
            return present;
        }
        // Outside the map, since it creates beans, which may ask for channels.
        RpcChannel made = open(name);
        RpcChannel earlier = open.putIfAbsent(name, made);
        if (earlier != null) {
            made.close();
            return earlier;
        }
        if (closed) {
            made.close();
            requireOpen(name);
        }
        watchers.orderedStream().forEach(watcher -> watcher.channel(made));
        return made;
    }

    private void requireOpen(String name) {
        if (closed) {
            throw new IllegalStateException("the context is closed, so it opens no channel " + name
                    + "; ask for stubs and channels before it closes");
        }
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
        meters.orderedStream().forEach(builder::meter);
        // Beans are made before the servers that they call, some of which lie in this context.
        return builder.openLazily();
    }

    @Override
    public void destroy() {
        closed = true;
        open.values().forEach(RpcChannel::close);
    }
}
