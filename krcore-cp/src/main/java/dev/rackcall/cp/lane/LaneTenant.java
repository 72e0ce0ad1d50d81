package dev.rackcall.cp.lane;

import java.util.concurrent.atomic.AtomicInteger;

/** A tenant as lanes see it: how many of its requests are in flight. Any thread may use it. */
public final class LaneTenant {
    private final AtomicInteger held = new AtomicInteger();

    /** Requests at queue pairs, over all lanes. */
    public int held() {
        return held.get();
    }

    void hold(int more) {
        held.addAndGet(more);
    }

    /** What one tenant holds of one lane. Guarded by the lane. */
    static final class Share {
        private final LaneTenant tenant;
        private int held;
        private int queues;

        Share(LaneTenant tenant) {
            this.tenant = tenant;
        }

        LaneTenant tenant() {
            return tenant;
        }

        /** Places that it holds. */
        int held() {
            return held;
        }

        void hold(int more) {
            held += more;
            tenant.hold(more);
        }

        /** Returns how many virtual queues use it then. */
        int use(int more) {
            queues += more;
            return queues;
        }
    }
}
