package dev.rackcall.lock;

import dev.rackcall.verbs.Opcode;
import dev.rackcall.verbs.QueuePair;
import dev.rackcall.verbs.WorkRequest;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;

/** Counts what is sent over a queue pair. */
final class CountingQueuePair implements InvocationHandler {
    private final QueuePair queuePair;
    private final Map<Opcode, AtomicLong> requests = new EnumMap<>(Opcode.class);
    private final AtomicLong waits = new AtomicLong();

    private CountingQueuePair(QueuePair queuePair) {
        this.queuePair = queuePair;
        for (Opcode opcode : Opcode.values()) {
            requests.put(opcode, new AtomicLong());
        }
    }

    /** This table with its requests counted. */
    static RemoteTable in(RemoteTable table) {
        QueuePair counting = (QueuePair) Proxy.newProxyInstance(
                QueuePair.class.getClassLoader(),
                new Class<?>[] {QueuePair.class},
                new CountingQueuePair(table.queuePair()));
        return new RemoteTable(counting, table.completions(), table.scratch(), table.address(), table.key());
    }

    static CountingQueuePair of(RemoteTable table) {
        return (CountingQueuePair) Proxy.getInvocationHandler(table.queuePair());
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
    public Object invoke(Object proxy, Method method, Object[] arguments) throws Throwable {
        if (method.getName().equals("postSend")) {
            if (arguments[0] instanceof WorkRequest one) {
                count(one);
            } else {
                for (int i = 0; i < (int) arguments[1]; i++) {
                    count(((WorkRequest[]) arguments[0])[i]);
                }
            }
        }
        try {
            return method.invoke(queuePair, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }
}
