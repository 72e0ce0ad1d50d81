package dev.rackcall.verbs.soft.wire;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.util.concurrent.Future;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A TCP connection. Without TLS, threads other than its event loop may use it: a posting thread writes, a busily
 * polling thread reads. {@link Link} keeps the bytes in order; the socket itself is safe against a concurrent close.
 */
final class LinkChannel extends NioSocketChannel {
    private static final Logger LOG = LoggerFactory.getLogger(LinkChannel.class);

    /** Accepts connections. */
    static final class Listening extends NioServerSocketChannel {
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

    private volatile BooleanSupplier reader;

    LinkChannel() {}

    private LinkChannel(Channel parent, SocketChannel socket) {
        super(parent, socket);
    }

    /** From now on this reader, not the pipeline, reads the socket. It returns false at the end of the connection. */
    void readBy(BooleanSupplier newReader) {
        reader = newReader;
    }

    int read(ByteBuffer into) throws IOException {
        return javaChannel().read(into);
    }

    int write(ByteBuffer from) throws IOException {
        return javaChannel().write(from);
    }

    @Override
    protected int doReadBytes(ByteBuf buffer) throws Exception {
        BooleanSupplier current = reader;
        if (current == null) {
            return super.doReadBytes(buffer);
        }
        // Netty handles only the end; 0 means that the pipeline gets no bytes.
        return current.getAsBoolean() ? 0 : -1;
    }

    static void logFailure(Future<?> done) {
        if (!done.isSuccess() && !done.isCancelled()) {
            LOG.error("a task of the device failed", done.cause());
        }
    }
}
