package dev.rackcall.rdma.sending;

import java.util.concurrent.CountDownLatch;

/** Notes what it hears. */
final class FakeConnection implements Connection {
    private final CountDownLatch looked = new CountDownLatch(1);
    private volatile String why = "";
    private volatile boolean told;

    @Override
    public boolean hasEnded() {
        return !why.isEmpty();
    }

    @Override
    public void end(String reason) {
        why = hasEnded() ? why : reason;
    }

    @Override
    public void tellEnd() {
        told = true;
    }

    @Override
    public void look() {
        looked.countDown();
    }

    /** Until somebody looks. */
    void awaitLook() throws InterruptedException {
        looked.await();
    }

    String why() {
        return why;
    }

    boolean isTold() {
        return told;
    }
}
