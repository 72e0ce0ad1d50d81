package dev.rackcall.cp;

/** What one tenant holds of a lane. Guarded by the lane. */
final class LaneShare {
    private final LocalTenant tenant;
    private int held;
    private int queues;

    LaneShare(LocalTenant tenant) {
        this.tenant = tenant;
    }

    LocalTenant tenant() {
        return tenant;
    }

    /** Places that it holds. */
    int held() {
        return held;
    }

    void hold(int more) {
        held += more;
    }

    /** Returns how many virtual queues use it then. */
    int use(int more) {
        queues += more;
        return queues;
    }
}
