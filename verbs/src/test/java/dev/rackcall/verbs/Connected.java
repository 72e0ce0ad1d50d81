package dev.rackcall.verbs;

import static org.assertj.core.api.Assertions.assertThat;

/** Two benches, each with a queue pair that is connected to the other. */
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

    public void reconnect() {
        qa.toReset();
        qb.toReset();
        a.connect(qa, b, qb);
        b.connect(qb, a, qa);
    }

    /** Runs a request that is signaled or fails, and returns its completion. */
    public Bench.Done run(WorkRequest request) {
        assertThat(qa.postSend(request)).as("room in the send queue").isTrue();
        return a.next();
    }

    /** Runs a signaled request that must succeed. */
    public void succeed(WorkRequest request) {
        assertThat(run(request).status()).isEqualTo(CompletionStatus.SUCCESS);
    }

    @Override
    public void close() throws Exception {
        a.close();
        b.close();
    }
}
