package dev.rackcall.rpc.contract;

import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.Status;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.io.TempDir;

/** A test with servers and channels in a runtime directory of its own. They are closed after it, the last one first. */
public abstract class RpcFixture {
    @TempDir
    protected Path directory;

    /** Callers on other threads add to it, too. */
    private final List<AutoCloseable> open = new CopyOnWriteArrayList<>();

    protected final <T extends AutoCloseable> T keep(T item) {
        open.add(item);
        return item;
    }

    protected final RpcServer serve(RpcServer.Builder builder) {
        return keep(builder.start());
    }

    protected final RpcChannel.Builder channel(String name) {
        return RpcChannel.builder(name).directory(directory);
    }

    protected final RpcChannel open(RpcChannel.Builder builder) {
        return keep(builder.open());
    }

    protected final RpcChannel open(String name) {
        return open(channel(name));
    }

    /** How a call ends. */
    protected static Status.Code codeOf(Runnable call) {
        try {
            call.run();
            return Status.Code.OK;
        } catch (RpcException e) {
            return e.code();
        }
    }

    @AfterEach
    protected void closeAll() throws Exception {
        for (AutoCloseable each : open.reversed()) {
            each.close();
        }
        open.clear();
    }
}
