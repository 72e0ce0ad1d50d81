package dev.rackcall.verbs.soft.wire;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.ssl.SslHandshakeCompletionEvent;

/** Passes the events of a channel's pipeline to its link. */
final class LinkHandler extends ChannelInboundHandlerAdapter {
    private final Link link;
    private final boolean plain;

    LinkHandler(Link link, boolean plain) {
        this.link = link;
        this.plain = plain;
    }

    @Override
    public void channelActive(ChannelHandlerContext channel) {
        if (plain) {
            link.connected((LinkChannel) channel.channel(), true);
        }
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext channel, Object event) {
        if (event instanceof SslHandshakeCompletionEvent handshake) {
            if (handshake.isSuccess()) {
                link.connected((LinkChannel) channel.channel(), false);
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
