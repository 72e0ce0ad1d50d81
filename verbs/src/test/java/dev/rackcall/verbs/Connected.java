package dev.rackcall.verbs;

import static org.assertj.core.api.Assertions.assertThat;

/** Two benches with a connected queue pair each. */
public final class Connected implements AutoCloseable {
    public final Bench a;
    public final Bench b;
    public final QueuePair qa;
    public final QueuePair qb;

    public Connected(Device device) {
        this(device, Bench.PATIENT, InitAttributes.connected());
    }

    public Connected(Device device, ReadyToSend patience, InitAttributes rights) {
        this(new Bench(device), new Bench(device), patience, rights);
    }

    public Connected(Bench a, Bench b, ReadyToSend patience, InitAttributes rights) {
        this.a = a;
        this.b = b;
        qa = a.queuePair(QueuePairType.RC);
        qb = b.queuePair(QueuePairType.RC);
        a.connect(qa, b, qb, patience, rights);
        b.connect(qb, a, qa, patience, rights);
    }

    /** Posts and returns how it ended; for requests that are signaled or fail. */
    public Bench.Done run(WorkRequest request) {
        assertThat(qa.postSend(request)).as("room in the send queue").isTrue();
        return a.next();
    }

    @Override
    public void close() throws Exception {
        a.close();
        b.close();
    }
}
