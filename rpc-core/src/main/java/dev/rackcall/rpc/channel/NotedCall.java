package dev.rackcall.rpc.channel;

import dev.rackcall.rpc.spi.ClientCall;
import dev.rackcall.rpc.spi.ForwardingCall;
import java.util.ArrayList;
import java.util.List;

/**
 * An intercepted call whose answer its own thread reads. Notes the shared objects of the result, wherever they lie in
 * it, so that they can be released if an interceptor withholds the result.
 */
final class NotedCall extends ForwardingCall {
    private List<Object> shared = List.of();

    NotedCall(ClientCall call) {
        super(call);
    }

    /** The shared objects that were read. */
    List<Object> shared() {
        return shared;
    }

    @Override
    public <T> T shared(Class<T> type, long ref) {
        T object = call.shared(type, ref);
        if (shared.isEmpty()) {
            shared = new ArrayList<>();
        }
        shared.add(object);
        return object;
    }
}
