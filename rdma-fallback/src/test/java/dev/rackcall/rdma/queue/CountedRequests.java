package dev.rackcall.rdma.queue;

import dev.rackcall.verbs.Context;
import dev.rackcall.verbs.Device;
import dev.rackcall.verbs.Opcode;
import dev.rackcall.verbs.ProtectionDomain;
import dev.rackcall.verbs.QueuePair;
import dev.rackcall.verbs.WorkRequest;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

/** Counts the requests that are posted to devices. Thread-safe. */
final class CountedRequests {
    private final Map<Opcode, AtomicInteger> posted = new EnumMap<>(Opcode.class);

    CountedRequests() {
        for (Opcode opcode : Opcode.values()) {
            posted.put(opcode, new AtomicInteger());
        }
    }

    /** This device, with its requests counted. */
    Device of(Device device) {
        return wrap(Device.class, device);
    }

    /** Counts from 0 again. */
    void reset() {
        posted.values().forEach(count -> count.set(0));
    }

    int reads() {
        return posted.get(Opcode.READ).get();
    }

    int all() {
        return posted.values().stream().mapToInt(AtomicInteger::get).sum();
    }

    private <T> T wrap(Class<T> type, Object wrapped) {
        return type.cast(Proxy.newProxyInstance(
                type.getClassLoader(), new Class<?>[] {type}, (proxy, method, arguments) -> {
                    if (method.getName().equals("postSend")) {
                        count(arguments);
                    }
                    try {
                        return wrapAgain(method.invoke(wrapped, arguments));
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                }));
    }

    private Object wrapAgain(Object made) {
        return switch (made) {
            case Context context -> wrap(Context.class, context);
            case ProtectionDomain domain -> wrap(ProtectionDomain.class, domain);
            case QueuePair queuePair -> wrap(QueuePair.class, queuePair);
            case null, default -> made;
        };
    }

    private void count(Object[] arguments) {
        if (arguments[0] instanceof WorkRequest one) {
            count(one);
            return;
        }
        for (int i = 0; i < (int) arguments[1]; i++) {
            count(((WorkRequest[]) arguments[0])[i]);
        }
    }

    private void count(WorkRequest request) {
        posted.get(request.opcode()).incrementAndGet();
    }
}
