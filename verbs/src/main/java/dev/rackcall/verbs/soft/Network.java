package dev.rackcall.verbs.soft;

import dev.rackcall.verbs.VerbsErrno;
import dev.rackcall.verbs.VerbsException;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.EventLoop;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.handler.ssl.ClientAuth;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.concurrent.Future;
import java.net.InetSocketAddress;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import javax.net.ssl.SSLException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The device's thread, its listening socket and the making of connections, with or without TLS. */
final class Network implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Network.class);
    private static final int CONNECT_MILLIS = 2000;
    private static final int CLOSE_SECONDS = 5;

    private final MultiThreadIoEventLoopGroup group;
    private final EventLoop eventLoop;
    private final Optional<SslContext> server;
    private final Optional<SslContext> client;
    private volatile Optional<Channel> listening = Optional.empty();

    Network(String name, Optional<TlsOptions> tls) {
        server = tls.map(Network::serverTls);
        client = tls.map(Network::clientTls);
        group = new MultiThreadIoEventLoopGroup(1, new DefaultThreadFactory(name, true), NioIoHandler.newFactory());
        eventLoop = (EventLoop) group.next();
    }

    EventLoop eventLoop() {
        return eventLoop;
    }

    private static SslContext serverTls(TlsOptions options) {
        try {
            return SslContextBuilder.forServer(
                            options.certificates().toFile(), options.key().toFile())
                    .trustManager(options.authority().toFile())
                    .clientAuth(ClientAuth.REQUIRE)
                    .build();
        } catch (SSLException | IllegalArgumentException e) {
            throw unusable(options, e);
        }
    }

    private static SslContext clientTls(TlsOptions options) {
        try {
            // Devices are known by GID, not by host name: being signed by the authority is what counts.
            return SslContextBuilder.forClient()
                    .keyManager(options.certificates().toFile(), options.key().toFile())
                    .trustManager(options.authority().toFile())
                    .endpointIdentificationAlgorithm("")
                    .build();
        } catch (SSLException | IllegalArgumentException e) {
            throw unusable(options, e);
        }
    }

    private static VerbsException unusable(TlsOptions options, Exception cause) {
        return new VerbsException(
                "opening a software device with " + options,
                VerbsErrno.EINVAL,
                "give PEM files: a certificate chain, its PKCS#8 key, the authority (" + cause.getMessage() + ")",
                cause);
    }

    /**
     * Listens.
     *
     * @param links makes a link for each connection, by its remote address
     * @return where
     */
    InetSocketAddress listen(InetSocketAddress address, Function<String, Optional<ResponderLink>> links) {
        ChannelFuture bound = new ServerBootstrap()
                .group(group)
                .channelFactory(LinkServerChannel::new)
                .option(ChannelOption.SO_REUSEADDR, true)
                .childOption(ChannelOption.TCP_NODELAY, true)
                .childHandler(new ChannelInitializer<LinkChannel>() {
                    @Override
                    protected void initChannel(LinkChannel channel) {
                        Optional<ResponderLink> link = links.apply(String.valueOf(channel.remoteAddress()));
                        if (link.isPresent()) {
                            equip(channel.pipeline(), server, link.get());
                        } else {
                            channel.close().addListener(Network::logFailure);
                        }
                    }
                })
                .bind(address)
                .awaitUninterruptibly();
        if (!bound.isSuccess()) {
            throw new VerbsException(
                    "listening at " + address + " (" + bound.cause().getMessage() + ")",
                    VerbsErrno.EADDRINUSE,
                    "choose a free port (0 finds one) and an address of this host",
                    bound.cause());
        }
        listening = Optional.of(bound.channel());
        return (InetSocketAddress) bound.channel().localAddress();
    }

    void connect(InetSocketAddress address, RequesterLink link) {
        new Bootstrap()
                .group(group)
                .channelFactory(LinkChannel::new)
                .option(ChannelOption.TCP_NODELAY, true)
                .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, CONNECT_MILLIS)
                .handler(new ChannelInitializer<LinkChannel>() {
                    @Override
                    protected void initChannel(LinkChannel channel) {
                        equip(channel.pipeline(), client, link);
                    }
                })
                .connect(address)
                .addListener(connected -> {
                    if (!connected.isSuccess()) {
                        // Not here: the caller may hold a queue pair's monitor, and the end tells all queue pairs.
                        eventLoop.execute(() ->
                                link.fail("cannot connect: " + connected.cause().getMessage()));
                    }
                });
    }

    static void logFailure(Future<?> done) {
        if (!done.isSuccess() && !done.isCancelled()) {
            LOG.error("a task of the device failed", done.cause());
        }
    }

    private static void equip(ChannelPipeline pipeline, Optional<SslContext> tls, Link link) {
        tls.ifPresent(context ->
                pipeline.addLast(context.newHandler(pipeline.channel().alloc())));
        pipeline.addLast(new LinkHandler(link, tls.isEmpty()));
    }

    /** New connections are refused. Waits a few seconds at most. */
    void stopListening() {
        listening.ifPresent(channel -> channel.close().awaitUninterruptibly(CLOSE_SECONDS, TimeUnit.SECONDS));
    }

    /** Ends the thread, which ends what is being connected. Waits a few seconds at most. */
    @Override
    public void close() {
        stopListening();
        group.shutdownGracefully(0, 1, TimeUnit.SECONDS).awaitUninterruptibly(CLOSE_SECONDS, TimeUnit.SECONDS);
    }
}
