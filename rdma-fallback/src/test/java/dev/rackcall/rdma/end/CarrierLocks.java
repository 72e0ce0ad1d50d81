package dev.rackcall.rdma.end;

import java.util.concurrent.locks.ReentrantLock;

/** For tests of other packages that block sending threads. */
public final class CarrierLocks {
    private CarrierLocks() {}

    /** The lock that all sending threads take. */
    public static ReentrantLock of(MirrorCarrier carrier) {
        return carrier.lock;
    }
}
