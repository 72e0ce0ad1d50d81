package dev.rackcall.rdma.sending;

import java.util.concurrent.locks.ReentrantLock;

/** For tests of other packages that want to keep others from sending. */
public final class SendingLocks {
    private SendingLocks() {}

    /** The lock that all take who send. */
    public static ReentrantLock of(Sending sending) {
        return sending.lock;
    }
}
