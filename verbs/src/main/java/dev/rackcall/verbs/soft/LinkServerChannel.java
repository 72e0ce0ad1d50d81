package dev.rackcall.verbs.soft;

import io.netty.channel.socket.nio.NioServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.List;

/** Accepts connections as {@link LinkChannel}s. */
final class LinkServerChannel extends NioServerSocketChannel {
    @Override
    protected int doReadMessages(List<Object> accepted) throws Exception {
        SocketChannel socket = javaChannel().accept();
        if (socket == null) {
            return 0;
        }
        accepted.add(new LinkChannel(this, socket));
        return 1;
    }
}
