package dev.rackcall.rdma.end;

import java.util.concurrent.CountDownLatch;

/** A carrier to a peer that always looks. */
final class FakeCarrier extends MirrorCarrier {
    private final CountDownLatch looked = new CountDownLatch(1);
    private volatile boolean told;
    private int helped;

    FakeCarrier(EndMemory memory, RequestQueue queue, int batch) {
        super(memory, queue, batch, () -> "nowhere");
    }

    /** How often it has asked for help. */
    int helped() {
        return helped;
    }

    void help() {
        locked(() -> {
            out.drain(System.nanoTime());
            return true;
        });
    }

    void awaitLook() throws InterruptedException {
        looked.await();
    }

    /** Whether the end was reported. */
    boolean isTold() {
        return told;
    }

    @Override
    protected boolean publish(long offset, long value, boolean urgent) {
        return locked(() -> out.isAlive()
                && out.add(requests.write(offset, Long.BYTES).inline(value).signaled())
                && out.flush());
    }

    @Override
    public boolean tell(long number) {
        throw new UnsupportedOperationException("it tells no numbers");
    }

    @Override
    public void start(Arrivals arrivals) {
        throw new UnsupportedOperationException("nothing arrives");
    }

    @Override
    public long clockAhead() {
        return 0;
    }

    @Override
    public void look() {
        looked.countDown();
    }

    @Override
    public void listen() {}

    @Override
    protected boolean wantsHelp() {
        return helped == 0 && out.isHeldUp();
    }

    @Override
    protected void askForHelp() {
        helped++;
    }

    @Override
    public void tellEnd() {
        told = true;
    }

    @Override
    protected void letArrive() {}

    @Override
    protected void closeParts() {}
}
