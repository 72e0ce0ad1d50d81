package dev.rackcall.rpc.shm.server;

import dev.rackcall.rpc.Dispatch;
import dev.rackcall.rpc.Status;
import dev.rackcall.shm.waiting.WaitStrategy;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Where handlers run: on the poller, on a pool of workers, or each on a virtual thread. */
public abstract sealed class Handlers implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Handlers.class);

    /** Runs the call, now or later; called by the poller. */
    final void take(Relief<ShmServerConnection> duty, ShmServerCall call) {
        call.askInterceptors();
        if (call.needsOwnThread()) {
            serveAlone(call);
        } else {
            serve(duty, call);
        }
    }

    /** For a call that reads or writes a stream, and so may take as long as its client. */
    private static void serveAlone(ShmServerCall call) {
        call.connection.use.callStarts();
        if (!call.openIncoming()) {
            call.fail(Status.Code.RESOURCE_EXHAUSTED
                    .with(
                            "%s: its client sends %d streams already, and each has a thread of the server; end one first",
                            call.request.name(), IncomingStream.MAX_OPEN)
                    .asException());
            call.endAside();
            return;
        }
        try {
            // Walls protect threads of the system, and a virtual thread runs on several.
            (call.connection.walled ? Thread.ofPlatform().daemon() : Thread.ofVirtual())
                    .name("rackcall-stream")
                    .start(() -> runAside(call));
        } catch (RuntimeException | Error e) {
            call.fail(e);
            call.endAside();
        }
    }

    abstract void serve(Relief<ShmServerConnection> duty, ShmServerCall call);

    @Override
    public void close() {}

    /** @param waiting how workers wait for calls */
    static Handlers of(Dispatch dispatch, WaitStrategy waiting) {
        return switch (dispatch.kind()) {
            case DIRECT -> new Direct();
            case WORKERS -> new Workers(dispatch.threads(), waiting);
            case VIRTUAL_THREADS -> new Virtual();
        };
    }

    /** Throws nothing: the thread has other calls to serve. */
    private static void runAside(ShmServerCall call) {
        try {
            boolean inside = true;
            try {
                inside = call.run();
            } finally {
                if (inside) {
                    call.endAside();
                }
            }
        } catch (RuntimeException | Error e) {
            LOG.error("a call of channel {} could not be ended", call.connection.channel(), e);
        }
    }

    private static final class Direct extends Handlers {
        @Override
        void serve(Relief<ShmServerConnection> duty, ShmServerCall call) {
            Relief.Marks<ShmServerConnection> entered = duty.enter(call.connection);
            try {
                call.run();
            } finally {
                if (!duty.leave(entered)) {
                    call.endAside();
                }
            }
        }
    }

    private static final class Virtual extends Handlers {
        private static final ThreadFactory THREADS =
                Thread.ofVirtual().name("rackcall-handler").factory();

        @Override
        void serve(Relief<ShmServerConnection> duty, ShmServerCall call) {
            call.connection.use.callStarts();
            THREADS.newThread(() -> runAside(call)).start();
        }
    }

    private static final class Workers extends Handlers {
        private static final int QUEUE = 4096;
        private static final long SLEEP_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

        private final int count;
        private final WorkerPool<ShmServerCall> pool;

        Workers(int count, WaitStrategy waiting) {
            this.count = count;
            pool = WorkerPool.start(count, QUEUE, waiting, SLEEP_NANOS, Handlers::runAside, Workers::refuse);
        }

        @Override
        void serve(Relief<ShmServerConnection> duty, ShmServerCall call) {
            call.connection.use.callStarts();
            if (!pool.offer(call)) {
                call.fail(Status.Code.RESOURCE_EXHAUSTED
                        .with(
                                "%s: all %d workers are busy and %d calls wait; add workers or call less",
                                call.request.name(), count, QUEUE)
                        .asException());
                call.endAside();
            }
        }

        /** The caller has noticed that the server is closed, but the call's resources must still be released. */
        private static void refuse(ShmServerCall call) {
            call.fail(Status.Code.UNAVAILABLE
                    .with("%s: the server was closed before the handler could start", call.request.name())
                    .asException());
            call.endAside();
        }

        @Override
        public void close() {
            pool.close();
        }
    }
}
