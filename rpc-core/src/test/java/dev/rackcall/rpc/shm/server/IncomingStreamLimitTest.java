package dev.rackcall.rpc.shm.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.rpc.CallOptions;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.contract.Meter;
import dev.rackcall.rpc.contract.MeterService;
import dev.rackcall.rpc.contract.RpcFixture;
import dev.rackcall.testkit.Await;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class IncomingStreamLimitTest extends RpcFixture {
    private static Stream<Integer> waiting() {
        // One element, and then none until the stream is stopped.
        BlockingQueue<Integer> queue = new LinkedBlockingQueue<>(List.of(1));
        return Stream.generate(() -> {
            try {
                return queue.take();
            } catch (InterruptedException e) {
                throw new IllegalStateException("interrupted", e);
            }
        });
    }

    @Test
    void shouldRefuseMoreHandlersOfOneClientThatWaitForElements() {
        serve(RpcServer.builder().service(Meter.class, new MeterService()).runtimeFolder(directory));
        Meter stub = open(channel("/test/meter").slots(1024))
                .stub(Meter.class, CallOptions.DEFAULT.withTimeout(Await.BOUND));
        List<Stream<Integer>> open = new ArrayList<>();
        for (int i = 0; i < IncomingStream.MAX_OPEN; i++) {
            Stream<Integer> doubled = stub.doubled(waiting());
            open.add(doubled);
            assertThat(doubled.iterator().next()).isEqualTo(2);
        }
        Iterator<Integer> refused = stub.doubled(waiting()).iterator();
        assertFails(Status.Code.RESOURCE_EXHAUSTED, refused::hasNext).hasMessageContaining("256 streams");
        assertThat(stub.add(1, 2)).as("a call meanwhile").isEqualTo(3);
        open.forEach(Stream::close);
        assertThat(stub.first(1, true, Stream.of(7))).containsExactly(7);
    }
}
