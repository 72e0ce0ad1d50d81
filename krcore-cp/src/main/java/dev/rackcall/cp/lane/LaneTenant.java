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

    /** One tenant's share of one lane. Guarded by the lane. */
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

        /** Places in use. */
        int held() {
            return held;
        }

        void hold(int more) {
            held += more;
            tenant.hold(more);
        }

        /** Changes the number of virtual queues that use the share; returns the new number. */
        int use(int more) {
            queues += more;
            return queues;
        }
    }
}
