package dev.rackcall.rpc.isolation;

import dev.rackcall.rpc.CallMeter;
import dev.rackcall.rpc.ClientInterceptor;
import dev.rackcall.rpc.MethodDescriptor;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcContext;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.ServerInterceptor;

/** Calls allocate nothing at either end, although both have interceptors and meters: all of them are disabled. */
class DisabledInterceptorAllocationTest extends CallAllocationTest {
    private static final class Disabled implements ClientInterceptor, ServerInterceptor, CallMeter {
        @Override
        public boolean isEnabled() {
            return false;
        }

        @Override
        public void around(ClientInterceptor.Call call, Runnable next) {
            throw new AssertionError("it is disabled");
        }

        @Override
        public void around(RpcContext call, Runnable next) {
            throw new AssertionError("it is disabled");
        }

        @Override
        public OfMethod atClient(MethodDescriptor method) {
            return _ -> {
                throw new AssertionError("it is disabled");
            };
        }

        @Override
        public OfMethod atServer(MethodDescriptor method) {
            return atClient(method);
        }
    }

    @Override
    protected <T> RpcServer.Builder serving(Class<T> type, T service) {
        return super.serving(type, service)
                .interceptor(new Disabled())
                .interceptor(ServerInterceptor.NONE)
                .interceptor(new Disabled())
                .meter(new Disabled())
                .meter(new Disabled());
    }

    @Override
    protected RpcChannel.Builder channel(Class<?> service) {
        return super.channel(service)
                .interceptor(new Disabled())
                .interceptor(ClientInterceptor.NONE)
                .interceptor(new Disabled())
                .meter(new Disabled())
                .meter(new Disabled());
    }
}
