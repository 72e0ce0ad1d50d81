package dev.rackcall.rpc.shm;

import dev.rackcall.rpc.Dispatch;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.spi.CallThread;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jctools.queues.varhandle.MpmcVarHandleArrayQueue;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Where handlers run: on the poller, on a pool of workers, or each on a virtual thread. */
abstract sealed class Handlers implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Handlers.class);

    /** Runs the call, now or later; called by the poller. */
    abstract void serve(Poller poller, ShmServerCall call);

    @Override
    public void close() {}

    static Handlers of(Dispatch dispatch) {
        return switch (dispatch.kind()) {
            case DIRECT -> new Direct();
            case WORKERS -> new Workers(dispatch.threads());
            case VIRTUAL_THREADS -> new Virtual();
        };
    }

    /** Throws nothing: the thread has other calls to serve. */
    private static void runAside(ShmServerCall call) {
        try {
            try {
                call.run();
            } finally {
                call.endAside();
            }
        } catch (RuntimeException | Error e) {
            LOG.error("a call of channel {} could not be ended", call.connection.service.channel(), e);
        }
    }

    private static final class Direct extends Handlers {
        @Override
        void serve(Poller poller, ShmServerCall call) {
            Relief.Marks entered = poller.enterHandler(call);
            try {
                call.run();
            } finally {
                if (!poller.leaveHandler(entered)) {
                    call.endAside();
                }
            }
        }
    }

    private static final class Virtual extends Handlers {
        @Override
        void serve(Poller poller, ShmServerCall call) {
            call.connection.use.callStarts();
            Thread.startVirtualThread(() -> runAside(call));
        }
    }

    /** A fixed pool over a bounded queue; idle workers spin a little, then park. */
    private static final class Workers extends Handlers {
        private static final int QUEUE = 4096;
        private static final int SPINS = 2_000;
        private static final long PARK_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

        private final MpmcVarHandleArrayQueue<ShmServerCall> queue = new MpmcVarHandleArrayQueue<>(QUEUE);
        private final MpmcVarHandleArrayQueue<Thread> parked;
        private final List<Thread> threads = new ArrayList<>();
        private volatile boolean stopped;

        Workers(int count) {
            parked = new MpmcVarHandleArrayQueue<>(Math.max(2, 2 * count));
            for (int i = 0; i < count; i++) {
                Thread thread = new CallThread(this::work, "rackcall-worker-" + i);
                threads.add(thread);
                thread.start();
            }
        }

        @Override
        void serve(Poller poller, ShmServerCall call) {
            call.connection.use.callStarts();
            if (queue.offer(call)) {
                if (stopped) {
                    refuseWaiting();
                }
                // The queue's own volatile update is before this look; a worker looks at the queue after it has
                // announced to park.
                Thread idle = parked.poll();
                if (idle != null) {
                    LockSupport.unpark(idle);
                }
            } else {
                call.fail(Status.Code.RESOURCE_EXHAUSTED
                        .with(
                                "all %d workers are busy and %d calls wait; add workers or call less",
                                threads.size(), QUEUE)
                        .asException());
                call.endAside();
            }
        }

        /** Their callers know that the server is closed; but what these calls hold has to be given back. */
        private void refuseWaiting() {
            for (ShmServerCall call = queue.poll(); call != null; call = queue.poll()) {
                call.fail(Status.Code.UNAVAILABLE
                        .with("the server was closed before the handler could start")
                        .asException());
                call.endAside();
            }
        }

        private void work() {
            while (!stopped) {
                ShmServerCall call = next();
                if (call != null) {
                    runAside(call);
                }
            }
        }

        private ShmServerCall next() {
            for (int i = 0; i < SPINS; i++) {
                ShmServerCall call = queue.poll();
                if (call != null) {
                    return call;
                }
                Thread.onSpinWait();
            }
            parked.offer(Thread.currentThread());
            ShmServerCall call = queue.poll();
            if (call == null && !stopped) {
                LockSupport.parkNanos(PARK_NANOS);
            }
            return call;
        }

        @Override
        public void close() {
            stopped = true;
            threads.forEach(LockSupport::unpark);
            refuseWaiting();
        }
    }
}
