package dev.rackcall.lock;

import dev.rackcall.verbs.InitAttributes;
import dev.rackcall.verbs.Opcode;
import dev.rackcall.verbs.QueuePair;
import dev.rackcall.verbs.QueuePairState;
import dev.rackcall.verbs.QueuePairType;
import dev.rackcall.verbs.ReadyToReceive;
import dev.rackcall.verbs.ReadyToSend;
import dev.rackcall.verbs.ReceiveRequest;
import dev.rackcall.verbs.WorkRequest;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;

/** A queue pair that counts what is sent over it. */
final class CountingQueuePair implements QueuePair {
    private final QueuePair queuePair;
    private final Map<Opcode, AtomicLong> requests = new EnumMap<>(Opcode.class);
    private final AtomicLong waits = new AtomicLong();

    CountingQueuePair(QueuePair queuePair) {
        this.queuePair = queuePair;
        for (Opcode opcode : Opcode.values()) {
            requests.put(opcode, new AtomicLong());
        }
    }

    /** This link with its requests counted. */
    static RemoteTable in(RemoteTable link) {
        return new RemoteTable(
                new CountingQueuePair(link.queuePair()),
                link.completions(),
                link.scratch(),
                link.address(),
                link.key());
    }

    static CountingQueuePair of(RemoteTable link) {
        return (CountingQueuePair) link.queuePair();
    }

    void reset() {
        requests.values().forEach(count -> count.set(0));
        waits.set(0);
    }

    long requests() {
        return requests.values().stream().mapToLong(AtomicLong::get).sum();
    }

    /** What was sent: round trips, WRITEs, atomics, READs. */
    String counts() {
        return waits + " trips: " + requests.get(Opcode.WRITE) + " W, " + requests.get(Opcode.COMPARE_AND_SWAP) + " C, "
                + requests.get(Opcode.READ) + " R";
    }

    private void count(WorkRequest request) {
        requests.get(request.opcode()).incrementAndGet();
        if ((request.flags() & WorkRequest.SIGNALED) != 0) {
            waits.incrementAndGet();
        }
    }

    @Override
    public boolean postSend(WorkRequest request) {
        count(request);
        return queuePair.postSend(request);
    }

    @Override
    public int postSend(WorkRequest[] list, int count) {
        for (int i = 0; i < count; i++) {
            count(list[i]);
        }
        return queuePair.postSend(list, count);
    }

    @Override
    public int number() {
        return queuePair.number();
    }

    @Override
    public QueuePairType type() {
        return queuePair.type();
    }

    @Override
    public QueuePairState state() {
        return queuePair.state();
    }

    @Override
    public int maxInline() {
        return queuePair.maxInline();
    }

    @Override
    public void toInit(InitAttributes attributes) {
        queuePair.toInit(attributes);
    }

    @Override
    public void toReadyToReceive(ReadyToReceive attributes) {
        queuePair.toReadyToReceive(attributes);
    }

    @Override
    public void toReadyToSend(ReadyToSend attributes) {
        queuePair.toReadyToSend(attributes);
    }

    @Override
    public void toError() {
        queuePair.toError();
    }

    @Override
    public void toReset() {
        queuePair.toReset();
    }

    @Override
    public boolean postReceive(ReceiveRequest request) {
        return queuePair.postReceive(request);
    }

    @Override
    public void close() {
        queuePair.close();
    }
}
