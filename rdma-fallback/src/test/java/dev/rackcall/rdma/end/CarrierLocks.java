package dev.rackcall.rdma.end;

import java.util.concurrent.locks.ReentrantLock;

/** For tests of other packages that want to keep others from sending. */
public final class CarrierLocks {
    private CarrierLocks() {}

    /** The lock that all take who send. */
    public static ReentrantLock of(MirrorCarrier carrier) {
        return carrier.lock;
    }
}
