package dev.rackcall.rpc.call;

import dev.rackcall.rpc.ByteObserver;
import dev.rackcall.rpc.CallMeter;
import dev.rackcall.rpc.CallObserver;
import dev.rackcall.rpc.Metadata;
import dev.rackcall.rpc.MethodDescriptor;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.Status;

/** A meter learns of the same bytes as interceptors do. */
class CallMeterBytesTest extends ByteObserverTest {
    private final CallMeter meter = new CallMeter() {
        @Override
        public OfMethod atClient(MethodDescriptor method) {
            return _ -> new Counted(CallMeterBytesTest.this::passed);
        }

        @Override
        public OfMethod atServer(MethodDescriptor method) {
            return _ -> new Counted(CallMeterBytesTest.this::servedPassed);
        }
    };

    private record Counted(ByteObserver bytes) implements CallObserver, ByteObserver {
        @Override
        public void onBytes(long copied, long byPointer) {
            bytes.onBytes(copied, byPointer);
        }

        @Override
        public void onEnd(Status status, Metadata trailers) {}
    }

    @Override
    RpcServer.Builder counting(RpcServer.Builder builder) {
        return builder.meter(meter);
    }

    @Override
    RpcChannel.Builder counting(RpcChannel.Builder builder) {
        return builder.meter(meter);
    }
}
