package dev.rackcall.grpc;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.util.concurrent.MoreExecutors;
import dev.rackcall.testkit.Await;
import io.grpc.Attributes;
import io.grpc.CallOptions;
import io.grpc.Grpc;
import io.grpc.InternalChannelz.SocketStats;
import io.grpc.InternalChannelz.TransportStats;
import io.grpc.Metadata;
import io.grpc.SecurityLevel;
import io.grpc.Status;
import io.grpc.internal.ClientStream;
import io.grpc.internal.GrpcAttributes;
import io.grpc.internal.GrpcUtil;
import io.grpc.internal.ServerStream;
import io.grpc.internal.ServerTransport;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/**
 * What gRPC's channel and server expect of a transport, by the behaviours that grpc-java's own transport tests check
 * ({@code AbstractTransportTest}, which is not published).
 *
 * <ul>
 *   <li>Here: start and stop, a server that is not there, termination with open streams, {@code shutdownNow} with its
 *       reason, each end reported once, pings, new streams during and after the shutdown, use (not by calls of load
 *       balancers), attributes, statistics.
 *   <li>By {@link StreamContractTest}: cancellation by either side, from within a listener, and before anything was
 *       sent, early ends with status and trailers, no-ops after the end, flow control, messages larger than the window,
 *       only as many messages as were requested, tracers, limits of metadata.
 *   <li>By the interoperability suite: basic streams, empty streams, the authority, tracers' events and sizes, large
 *       messages, compression.
 *   <li>By {@link RackcallChannelTest} and {@link ManyServersTest}: GOAWAY, reconnecting, several clients.
 *   <li>Not applicable: ports that are taken, the window size in statistics.
 * </ul>
 */
class TransportContractTest extends TransportFixture {
    @Test
    void shouldStartAndStop() throws Exception {
        connect();
        assertThat(client.getAttributes().get(GrpcAttributes.ATTR_SECURITY_LEVEL))
                .isEqualTo(isRemote() ? SecurityLevel.NONE : SecurityLevel.PRIVACY_AND_INTEGRITY);
        client.shutdown(Status.UNAVAILABLE);
        assertThat(clientEvents.next()).isEqualTo("shutdown UNAVAILABLE");
        assertThat(clientEvents.next()).isEqualTo("terminated");
    }

    @Test
    void shouldTerminateWhenItIsShutDownBeforeItConnects() throws Exception {
        Runnable connecting = client.start(clientEvents);
        client.shutdown(Status.CANCELLED);
        connecting.run();
        assertThat(clientEvents.next()).isEqualTo("shutdown CANCELLED");
        assertThat(clientEvents.next()).isEqualTo("terminated");
    }

    @Test
    void shouldFailWithoutAServer() throws Exception {
        client = new RackcallClientTransport(unserved(), "localhost", null, Attributes.EMPTY, 1, 1);
        client.start(clientEvents).run();
        assertThat(clientEvents.next()).isEqualTo("shutdown UNAVAILABLE");
        assertThat(clientEvents.next()).isEqualTo("terminated");
    }

    @Test
    void shouldTerminateAfterItsLastStream() throws Exception {
        connect();
        open(new Metadata());
        ServerStream stream = accepted();
        assertThat(clientEvents.next()).isEqualTo("in use true");
        client.shutdown(Status.UNAVAILABLE);
        assertThat(clientEvents.next()).isEqualTo("shutdown UNAVAILABLE");
        ClientStream late = open(new Metadata());
        assertThat(answers.nextButReady()).isEqualTo("closed UNAVAILABLE MISCARRIED");
        late.cancel(Status.CANCELLED);
        assertThat(clientEvents.events).isEmpty();
        stream.close(Status.OK, new Metadata());
        assertThat(answers.nextButReady()).isEqualTo("closed OK PROCESSED");
        assertThat(clientEvents.next()).isEqualTo("in use false");
        assertThat(clientEvents.next()).isEqualTo("terminated");
        open(new Metadata());
        assertThat(answers.nextButReady()).isEqualTo("closed UNAVAILABLE MISCARRIED");
    }

    /** gRPC repeats such a call at once, 1,000 times, while a late thread has not told it of the connection's end. */
    @Test
    void shouldEndARefusedStreamOnlyLater() throws Exception {
        connect();
        client.shutdown(Status.UNAVAILABLE);
        AtomicReference<Thread> ending = new AtomicReference<>();
        answers.reaction = () -> ending.set(Thread.currentThread());
        open(new Metadata());
        Await.until("its end", () -> ending.get() != null);
        assertThat(ending.get()).isNotSameAs(Thread.currentThread());
    }

    @Test
    void shouldEndStreamsWhenTheClientIsShutDownNow() throws Exception {
        connect();
        open(new Metadata());
        accepted();
        client.shutdownNow(Status.INTERNAL);
        assertThat(answers.nextButReady()).startsWith("closed INTERNAL");
        assertThat(serverEvents.stream.nextButReady()).isEqualTo("closed CANCELLED");
    }

    @Test
    void shouldReportItsEndOnceAndWithTheFirstReason() throws Exception {
        connect();
        open(new Metadata());
        accepted();
        client.shutdown(Status.UNAVAILABLE.withDescription("first"));
        client.shutdown(Status.INTERNAL);
        client.shutdownNow(Status.INTERNAL.withDescription("now"));
        client.shutdownNow(Status.DATA_LOSS);
        assertThat(answers.nextButReady()).isEqualTo("closed INTERNAL PROCESSED");
        assertThat(answers.status.getDescription()).isEqualTo("now");
        Await.until("its end", () -> clientEvents.events.contains("terminated"));
        assertThat(clientEvents.events)
                .containsExactly("in use true", "shutdown UNAVAILABLE", "in use false", "terminated");
        assertThat(answers.events).doesNotContain("closed DATA_LOSS PROCESSED");
    }

    @Test
    void shouldGiveTheServersStreamsTheReasonOfItsShutdown() throws Exception {
        connect();
        open(new Metadata());
        accepted();
        Status reason = Status.INTERNAL.withDescription("because");
        take(serverEvents.transports).shutdownNow(reason);
        assertThat(serverEvents.stream.nextButReady()).isEqualTo("closed INTERNAL");
        assertThat(serverEvents.stream.status.getDescription()).isEqualTo("because");
        assertThat(take(servedTrace.events)).isEqualTo("begins");
        assertThat(take(servedTrace.events)).isEqualTo("closed");
        assertThat(servedTrace.status.getDescription()).isEqualTo("because");
    }

    @Test
    void shouldBeInUseFromItsFirstStreamToTheEndOfTheLast() throws Exception {
        connect();
        ClientStream one = open(new Metadata());
        accepted();
        open(new Metadata());
        ServerStream other = accepted();
        one.cancel(Status.CANCELLED);
        assertThat(answers.nextButReady()).startsWith("closed CANCELLED");
        exchangePing();
        assertThat(clientEvents.events).containsExactly("in use true");
        other.close(Status.OK, new Metadata());
        assertThat(clientEvents.next()).isEqualTo("in use true");
        assertThat(clientEvents.next()).isEqualTo("in use false");
    }

    @Test
    void shouldNotBeInUseByCallsOfLoadBalancers() throws Exception {
        connect();
        CallOptions owned = CallOptions.DEFAULT.withOption(GrpcUtil.CALL_OPTIONS_RPC_OWNED_BY_BALANCER, true);
        ClientStream watching = open(BytesService.CHAT, new Metadata(), owned, new StreamEvents());
        accepted();
        exchangePing();
        assertThat(clientEvents.events).isEmpty();
        requireNewStream();
        assertThat(clientEvents.next()).isEqualTo("in use true");
        assertThat(clientEvents.next()).isEqualTo("in use false");
        watching.cancel(Status.CANCELLED);
        exchangePing();
        assertThat(clientEvents.events).isEmpty();
    }

    @Test
    void shouldDescribeBothEnds() throws Exception {
        connect();
        ClientStream stream = open(new Metadata());
        ServerStream served = accepted();
        assertThat(served.getAuthority()).isEqualTo("localhost");
        for (Attributes attributes : List.of(client.getAttributes(), stream.getAttributes(), served.getAttributes())) {
            assertThat(attributes.get(Grpc.TRANSPORT_ATTR_REMOTE_ADDR)).isNotNull();
            assertThat(attributes.get(Grpc.TRANSPORT_ATTR_LOCAL_ADDR)).isNotNull();
        }
        assertThat(client.getAttributes().get(GrpcAttributes.ATTR_CLIENT_EAG_ATTRS))
                .isEqualTo(Attributes.EMPTY);
    }

    @Test
    void shouldEndStreamsWhenTheServerIsShutDownNow() throws Exception {
        connect();
        open(new Metadata());
        accepted();
        take(serverEvents.transports).shutdownNow(Status.INTERNAL);
        assertThat(answers.nextButReady()).startsWith("closed ").doesNotContain("OK");
        assertThat(serverEvents.stream.nextButReady()).startsWith("closed ");
    }

    @Test
    void shouldPing() throws Exception {
        connect();
        client.ping(pings, MoreExecutors.directExecutor());
        assertThat(take(pings.events)).isEqualTo("took time");
        open(new Metadata());
        accepted();
        client.shutdown(Status.UNAVAILABLE);
        client.ping(pings, MoreExecutors.directExecutor());
        assertThat(take(pings.events)).isEqualTo("took time");
        client.shutdownNow(Status.UNAVAILABLE);
        Await.until("its end", () -> clientEvents.events.contains("terminated"));
        client.ping(pings, MoreExecutors.directExecutor());
        assertThat(take(pings.events)).isEqualTo("failed UNAVAILABLE");
    }

    @Test
    void shouldCountInItsStatistics() throws Exception {
        connect();
        ClientStream stream = open(new Metadata());
        ServerStream served = accepted();
        stream.writeMessage(message(10));
        stream.flush();
        served.request(1);
        assertThat(serverEvents.stream.nextButReady()).isEqualTo("message 10");
        served.close(Status.OK, new Metadata());
        assertThat(answers.nextButReady()).isEqualTo("closed OK PROCESSED");
        SocketStats stats = client.getStats().get(SECONDS, TimeUnit.SECONDS);
        assertThat(stats.data.streamsStarted).isEqualTo(1);
        assertThat(stats.data.streamsSucceeded).isEqualTo(1);
        assertThat(stats.data.messagesSent).isEqualTo(1);
        SocketStats served1 = take(serverEvents.transports).getStats().get(SECONDS, TimeUnit.SECONDS);
        assertThat(served1.data.messagesReceived).isEqualTo(1);
        assertThat(served1.remote).isNotNull();
    }

    @Test
    void shouldCountStreamsThatFail() throws Exception {
        connect();
        ClientStream stream = open(new Metadata());
        stream.request(1);
        ServerStream served = accepted();
        served.writeHeaders(new Metadata(), false);
        served.writeMessage(message(10));
        served.flush();
        assertThat(answers.nextButReady()).isEqualTo("headers");
        assertThat(answers.nextButReady()).isEqualTo("message 10");
        served.close(Status.INTERNAL, new Metadata());
        assertThat(answers.nextButReady()).isEqualTo("closed INTERNAL PROCESSED");
        TransportStats stats = client.getStats().get(SECONDS, TimeUnit.SECONDS).data;
        assertThat(List.of(stats.streamsStarted, stats.streamsFailed, stats.messagesReceived))
                .containsOnly(1L);
        assertThat(stats.streamsSucceeded).isZero();
        assertThat(stats.lastLocalStreamCreatedTimeNanos).isPositive();
        // The server counts a stream only after its listener has it; the stream's end comes after that.
        assertThat(serverEvents.stream.nextButReady()).isEqualTo("closed OK");
        ServerTransport transport = take(serverEvents.transports);
        stats = transport.getStats().get(SECONDS, TimeUnit.SECONDS).data;
        assertThat(List.of(stats.streamsStarted, stats.messagesSent)).containsOnly(1L);
        assertThat(stats.lastRemoteStreamCreatedTimeNanos).isPositive();
        open(new Metadata()).cancel(Status.CANCELLED);
        accepted();
        assertThat(serverEvents.stream.nextButReady()).isEqualTo("closed CANCELLED");
        stats = transport.getStats().get(SECONDS, TimeUnit.SECONDS).data;
        assertThat(stats.streamsStarted).isEqualTo(2);
        assertThat(stats.streamsFailed).isEqualTo(stats.streamsStarted - stats.streamsSucceeded);
    }
}
