package dev.rackcall.verbs.soft;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;

/**
 * A TCP connection of which other threads than its event loop may read and write, as long as there is no TLS: the thread that posts writes,
 * and one that polls busily reads. {@link Link} keeps the bytes in order; the socket itself is safe against being closed meanwhile.
 */
final class LinkChannel extends NioSocketChannel {
    private volatile Incoming incoming;

    LinkChannel() {}

    LinkChannel(Channel parent, SocketChannel socket) {
        super(parent, socket);
    }

    /** From now on bytes go there directly, past the pipeline. */
    void readInto(Incoming receiver) {
        incoming = receiver;
    }

    int read(ByteBuffer into) throws IOException {
        return javaChannel().read(into);
    }

    int write(ByteBuffer from) throws IOException {
        return javaChannel().write(from);
    }

    @Override
    protected int doReadBytes(ByteBuf buffer) throws Exception {
        Incoming receiver = incoming;
        if (receiver == null) {
            return super.doReadBytes(buffer);
        }
        // Netty gets to know of the end only; 0 says that there is nothing for the pipeline.
        return receiver.receiveReady(this) ? 0 : -1;
    }
}
