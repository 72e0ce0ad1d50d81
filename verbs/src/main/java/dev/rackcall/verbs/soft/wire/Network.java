package dev.rackcall.verbs.soft.wire;

import dev.rackcall.verbs.VerbsErrno;
import dev.rackcall.verbs.VerbsException;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.EventLoop;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioChannelOption;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslHandshakeCompletionEvent;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.security.cert.Certificate;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import javax.net.ssl.SSLPeerUnverifiedException;
import jdk.net.ExtendedSocketOptions;

/** A device's thread and listening socket. Accepts and makes TCP connections, with or without TLS. */
public final class Network implements AutoCloseable {
    private static final int CONNECT_MILLIS = 2000;
    private static final int CLOSE_SECONDS = 5;
    private static final int TLS_SECONDS = 5;
    /** TCP notices a peer whose host is gone after about {@code KEEPALIVE_IDLE + 3 * KEEPALIVE_INTERVAL} seconds. */
    private static final int KEEPALIVE_IDLE = 10;

    private static final int KEEPALIVE_INTERVAL = 5;
    private static final int KEEPALIVE_TRIES = 3;

    private final MultiThreadIoEventLoopGroup group;
    private final EventLoop eventLoop;
    private final Optional<SslContext> server;
    private final Optional<SslContext> client;
    private volatile Optional<Channel> listening = Optional.empty();

    /** Takes the TLS contexts for accepted and for own connections, or none for plain TCP. */
    public Network(String name, Optional<SslContext> server, Optional<SslContext> client) {
        this.server = server;
        this.client = client;
        group = new MultiThreadIoEventLoopGroup(1, new DefaultThreadFactory(name, true), NioIoHandler.newFactory());
        eventLoop = (EventLoop) group.next();
    }

    public EventLoop eventLoop() {
        return eventLoop;
    }

    /**
     * Listens at this address.
     *
     * @param links returns the link for a connection from this remote address, or nothing to refuse it
     * @return the bound address
     */
    public InetSocketAddress listen(
            InetSocketAddress address, Function<InetSocketAddress, Optional<? extends Link>> links) {
        ChannelFuture bound = new ServerBootstrap()
                .group(group)
                .channelFactory(LinkChannel.Listening::new)
                .option(ChannelOption.SO_REUSEADDR, true)
                .childOption(ChannelOption.TCP_NODELAY, true)
                .childHandler(new ChannelInitializer<LinkChannel>() {
                    @Override
                    protected void initChannel(LinkChannel channel) {
                        InetSocketAddress from = channel.remoteAddress();
                        // Null if the peer has already gone.
                        Optional<? extends Link> link = from == null ? Optional.empty() : links.apply(from);
                        if (link.isPresent()) {
                            equip(channel, server, link.get());
                        } else {
                            channel.close().addListener(LinkChannel::logFailure);
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

    /** Connects from the device's own address, by which the peer knows it. */
    public void connect(InetAddress own, InetSocketAddress address, Link link) {
        new Bootstrap()
                .group(group)
                .channelFactory(LinkChannel::new)
                .option(ChannelOption.TCP_NODELAY, true)
                .option(ChannelOption.SO_REUSEADDR, true)
                .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, CONNECT_MILLIS)
                .handler(new ChannelInitializer<LinkChannel>() {
                    @Override
                    protected void initChannel(LinkChannel channel) {
                        equip(channel, client, link);
                    }
                })
                .connect(address, new InetSocketAddress(own, 0))
                .addListener(connected -> {
                    if (!connected.isSuccess()) {
                        // Not on this thread: it may hold a queue pair's monitor, and the end is reported to all queue
                        // pairs.
                        eventLoop.execute(() ->
                                link.fail("cannot connect: " + connected.cause().getMessage()));
                    }
                });
    }

    private static void equip(LinkChannel channel, Optional<SslContext> tls, Link link) {
        link.attach(channel);
        channel.config().setOption(ChannelOption.SO_KEEPALIVE, true);
        channel.config().setOption(NioChannelOption.of(ExtendedSocketOptions.TCP_KEEPIDLE), KEEPALIVE_IDLE);
        channel.config().setOption(NioChannelOption.of(ExtendedSocketOptions.TCP_KEEPINTERVAL), KEEPALIVE_INTERVAL);
        channel.config().setOption(NioChannelOption.of(ExtendedSocketOptions.TCP_KEEPCOUNT), KEEPALIVE_TRIES);
        ChannelPipeline pipeline = channel.pipeline();
        Optional<SslHandler> handler = tls.map(context -> context.newHandler(channel.alloc()));
        handler.ifPresent(encrypting -> {
            encrypting.setHandshakeTimeout(TLS_SECONDS, TimeUnit.SECONDS);
            pipeline.addLast(encrypting);
        });
        pipeline.addLast(new LinkHandler(link, handler));
    }

    /** Refuses new connections. Waits a few seconds at most. */
    public void stopListening() {
        listening.ifPresent(channel -> channel.close().awaitUninterruptibly(CLOSE_SECONDS, TimeUnit.SECONDS));
    }

    /** Ends the thread and thereby pending connects. Waits a few seconds at most. */
    @Override
    public void close() {
        stopListening();
        group.shutdownGracefully(0, 1, TimeUnit.SECONDS).awaitUninterruptibly(CLOSE_SECONDS, TimeUnit.SECONDS);
    }

    /** Passes the events of a channel's pipeline to its link. */
    private static final class LinkHandler extends ChannelInboundHandlerAdapter {
        private final Link link;
        private final Optional<SslHandler> tls;

        LinkHandler(Link link, Optional<SslHandler> tls) {
            this.link = link;
            this.tls = tls;
        }

        @Override
        public void channelActive(ChannelHandlerContext channel) {
            if (tls.isEmpty()) {
                link.connected((LinkChannel) channel.channel(), true, GidProof.noKey());
            }
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext channel, Object event) throws SSLPeerUnverifiedException {
            if (event instanceof SslHandshakeCompletionEvent handshake) {
                if (handshake.isSuccess()) {
                    Certificate peer = tls.orElseThrow().engine().getSession().getPeerCertificates()[0];
                    link.connected(
                            (LinkChannel) channel.channel(),
                            false,
                            peer.getPublicKey().getEncoded());
                } else {
                    // Some causes have no message, for example a peer that closed the connection.
                    link.fail("TLS failed: " + handshake.cause());
                    channel.close().addListener(LinkChannel::logFailure);
                }
            }
        }

        @Override
        public void channelRead(ChannelHandlerContext channel, Object bytes) {
            link.incoming().received((ByteBuf) bytes);
        }

        @Override
        public void channelInactive(ChannelHandlerContext channel) {
            link.end("closed by the peer");
            link.incoming().discard();
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext channel, Throwable cause) {
            link.fail("failed: " + cause);
            channel.close().addListener(LinkChannel::logFailure);
        }
    }
}
