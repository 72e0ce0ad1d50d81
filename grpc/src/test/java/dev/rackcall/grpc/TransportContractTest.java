package dev.rackcall.grpc;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.util.concurrent.MoreExecutors;
import dev.rackcall.grpc.wire.OutboundStream;
import dev.rackcall.testkit.Await;
import io.grpc.Attributes;
import io.grpc.CallOptions;
import io.grpc.ClientStreamTracer;
import io.grpc.Grpc;
import io.grpc.InternalChannelz.SocketStats;
import io.grpc.InternalChannelz.TransportStats;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.SecurityLevel;
import io.grpc.ServerStreamTracer;
import io.grpc.Status;
import io.grpc.internal.ClientStream;
import io.grpc.internal.ClientStreamListener;
import io.grpc.internal.ClientTransport.PingCallback;
import io.grpc.internal.DisconnectError;
import io.grpc.internal.GrpcAttributes;
import io.grpc.internal.GrpcUtil;
import io.grpc.internal.ManagedClientTransport;
import io.grpc.internal.ServerListener;
import io.grpc.internal.ServerStream;
import io.grpc.internal.ServerStreamListener;
import io.grpc.internal.ServerTransport;
import io.grpc.internal.ServerTransportListener;
import io.grpc.internal.StreamListener.MessageProducer;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * What gRPC's channel and server expect of a transport, by the behaviours that grpc-java's own transport tests check
 * ({@code AbstractTransportTest}, which is not published).
 *
 * <ul>
 *   <li>Here: start and stop, a server that is not there, termination with open streams, {@code shutdownNow} with its
 *       reason, each end reported once, pings, new streams during and after the shutdown, use (not by calls of load
 *       balancers), cancellation by either side, from within a listener, and before anything was sent, early ends with
 *       status and trailers, no-ops after the end, flow control, messages larger than the window, only as many messages
 *       as were requested, tracers, statistics, limits of metadata, attributes.
 *   <li>By the interoperability suite: basic streams, empty streams, the authority, tracers' events and sizes, large
 *       messages, compression.
 *   <li>By {@link RackcallChannelTest} and {@link ManyServersTest}: GOAWAY, reconnecting, several clients.
 *   <li>Not applicable: ports that are taken, the window size in statistics.
 * </ul>
 */
class TransportContractTest {
    private static final long SECONDS = 100;
    private static final int MOST_METADATA = 1000;
    /** More than the window of a stream. */
    private static final int LARGE = 3 * OutboundStream.WINDOW;

    private static final Metadata.Key<byte[]> BINARY = Metadata.Key.of("bytes-bin", Metadata.BINARY_BYTE_MARSHALLER);
    private static final Metadata.Key<String> LONG = Metadata.Key.of("long", Metadata.ASCII_STRING_MARSHALLER);

    @TempDir
    private Path directory;

    private final Traced trace = new Traced();
    private final Traced servedTrace = new Traced();
    private final ServerEvents serverEvents = new ServerEvents();
    private final ClientEvents clientEvents = new ClientEvents();
    private RackcallServer server;
    private RackcallClientTransport client;

    @BeforeEach
    void start() throws IOException {
        server = new RackcallServer(
                address(),
                listens(),
                false,
                Optional.empty(),
                ConnectionLimits.NONE,
                1 << 20,
                MOST_METADATA,
                List.of(servedTrace.ofServer()));
        server.start(serverEvents);
        client = transport();
    }

    /** Addresses for clients that share no memory with the server. */
    List<URI> listens() {
        return List.of();
    }

    private RackcallSocketAddress address() {
        return RackcallSocketAddress.of("/test/contract", directory);
    }

    /** Where clients connect. */
    RackcallSocketAddress address(RackcallServer started) {
        return address();
    }

    /** Where no server is. */
    RackcallSocketAddress nobody() {
        return RackcallSocketAddress.of("/test/nobody", directory);
    }

    SecurityLevel security() {
        return SecurityLevel.PRIVACY_AND_INTEGRITY;
    }

    private RackcallClientTransport transport() {
        return new RackcallClientTransport(
                address(server), "localhost", null, Attributes.EMPTY, 1 << 20, MOST_METADATA);
    }

    @AfterEach
    void stop() throws InterruptedException {
        client.shutdownNow(Status.UNAVAILABLE);
        server.shutdown();
        assertThat(serverEvents.next()).isEqualTo("shutdown");
    }

    // ---- recorders

    private static <T> T take(BlockingQueue<T> queue) throws InterruptedException {
        T next = queue.poll(SECONDS, TimeUnit.SECONDS);
        assertThat(next).as("an event within " + SECONDS + " s").isNotNull();
        return next;
    }

    private static final class ClientEvents implements ManagedClientTransport.Listener {
        private final BlockingQueue<String> events = new LinkedBlockingQueue<>();

        String next() throws InterruptedException {
            return take(events);
        }

        @Override
        public void transportShutdown(Status status, DisconnectError why) {
            events.add("shutdown " + status.getCode());
        }

        @Override
        public void transportTerminated() {
            events.add("terminated");
        }

        @Override
        public void transportReady() {
            events.add("ready");
        }

        @Override
        public void transportInUse(boolean used) {
            events.add("in use " + used);
        }

        @Override
        public Attributes filterTransport(Attributes attributes) {
            return attributes;
        }
    }

    private static final class ServerEvents implements ServerListener, ServerTransportListener {
        private final BlockingQueue<String> events = new LinkedBlockingQueue<>();
        private final BlockingQueue<ServerStream> streams = new LinkedBlockingQueue<>();
        private final BlockingQueue<ServerTransport> transports = new LinkedBlockingQueue<>();
        private final StreamEvents stream = new StreamEvents();

        String next() throws InterruptedException {
            return take(events);
        }

        @Override
        public ServerTransportListener transportCreated(ServerTransport transport) {
            transports.add(transport);
            return this;
        }

        @Override
        public void serverShutdown() {
            events.add("shutdown");
        }

        @Override
        public void streamCreated(ServerStream created, String method, Metadata headers) {
            created.setListener(stream);
            streams.add(created);
        }

        @Override
        public Attributes transportReady(Attributes attributes) {
            return attributes;
        }

        @Override
        public void transportTerminated() {
            // Clients' own events show it.
        }
    }

    /** A stream's events at either side. */
    private static final class StreamEvents implements ServerStreamListener, ClientStreamListener {
        private final BlockingQueue<String> events = new LinkedBlockingQueue<>();
        /** Of the last end. */
        private volatile Status status;

        private volatile Metadata trailers;
        /** What runs at each message and end. */
        private volatile Runnable reaction = () -> {};

        String next() throws InterruptedException {
            return take(events);
        }

        /** The next event but those that say that the stream can send. */
        String nextButReady() throws InterruptedException {
            String event = next();
            return event.equals("ready") ? nextButReady() : event;
        }

        @Override
        public void messagesAvailable(MessageProducer producer) {
            for (InputStream message = producer.next(); message != null; message = producer.next()) {
                try (InputStream bytes = message) {
                    events.add("message " + bytes.readAllBytes().length);
                    reaction.run();
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            }
        }

        @Override
        public void onReady() {
            events.add("ready");
        }

        @Override
        public void halfClosed() {
            events.add("half-closed");
        }

        @Override
        public void headersRead(Metadata headers) {
            events.add("headers");
        }

        @Override
        public void closed(Status given) {
            status = given;
            events.add("closed " + given.getCode());
        }

        @Override
        public void closed(Status given, RpcProgress progress, Metadata last) {
            status = given;
            trailers = last;
            events.add("closed " + given.getCode() + " " + progress);
            reaction.run();
        }
    }

    /** What a tracer of either side hears. */
    private static final class Traced {
        private final BlockingQueue<String> events = new LinkedBlockingQueue<>();
        private volatile Status status;

        private void closed(Status given) {
            status = given;
            events.add("closed");
        }

        ClientStreamTracer ofClient() {
            return new ClientStreamTracer() {
                @Override
                public void outboundHeaders() {
                    events.add("headers out");
                }

                @Override
                public void inboundHeaders() {
                    events.add("headers in");
                }

                @Override
                public void inboundTrailers(Metadata trailers) {
                    events.add("trailers in");
                }

                @Override
                public void outboundMessageSent(int number, long wire, long uncompressed) {
                    events.add("sent " + number + " of " + uncompressed);
                }

                @Override
                public void inboundMessageRead(int number, long wire, long uncompressed) {
                    events.add("read " + number + " of " + uncompressed);
                }

                @Override
                public void streamClosed(Status given) {
                    closed(given);
                }
            };
        }

        ServerStreamTracer.Factory ofServer() {
            return new ServerStreamTracer.Factory() {
                @Override
                public ServerStreamTracer newServerStreamTracer(String method, Metadata headers) {
                    events.add("begins");
                    return new ServerStreamTracer() {
                        @Override
                        public void outboundMessageSent(int number, long wire, long uncompressed) {
                            events.add("sent " + number + " of " + uncompressed);
                        }

                        @Override
                        public void inboundMessageRead(int number, long wire, long uncompressed) {
                            events.add("read " + number + " of " + uncompressed);
                        }

                        @Override
                        public void streamClosed(Status given) {
                            closed(given);
                        }
                    };
                }
            };
        }
    }

    private static final class PingEvents implements PingCallback {
        private final BlockingQueue<String> events = new LinkedBlockingQueue<>();

        @Override
        public void onSuccess(long nanos) {
            events.add(nanos > 0 ? "took time" : "took " + nanos);
        }

        @Override
        public void onFailure(Status cause) {
            events.add("failed " + cause.getCode());
        }
    }

    private final StreamEvents answers = new StreamEvents();
    private final PingEvents pings = new PingEvents();

    private void connect() throws InterruptedException {
        client.start(clientEvents).run();
        assertThat(clientEvents.next()).isEqualTo("ready");
    }

    /** Begins a bidirectional stream. */
    private ClientStream open(Metadata headers) {
        return open(BytesService.CHAT, headers, CallOptions.DEFAULT, answers);
    }

    private ClientStream open(
            MethodDescriptor<byte[], byte[]> method, Metadata headers, CallOptions options, StreamEvents listener) {
        ClientStream stream = client.newStream(method, headers, options, new ClientStreamTracer[] {trace.ofClient()});
        stream.start(listener);
        return stream;
    }

    /** Waits until each side has taken what the other has sent before. */
    private void exchangePing() throws InterruptedException {
        client.ping(pings, MoreExecutors.directExecutor());
        assertThat(take(pings.events)).isEqualTo("took time");
    }

    /** A new stream shows that the connection is sound. */
    private void requireNewStream() throws InterruptedException {
        StreamEvents listener = new StreamEvents();
        open(BytesService.CHAT, new Metadata(), CallOptions.DEFAULT, listener);
        accepted().close(Status.OK, new Metadata());
        assertThat(listener.nextButReady()).isEqualTo("closed OK PROCESSED");
    }

    private ServerStream accepted() throws InterruptedException {
        return take(serverEvents.streams);
    }

    private static InputStream message(int bytes) {
        return new ByteArrayInputStream(new byte[bytes]);
    }

    // ---- the life of a transport

    @Test
    void shouldStartAndStop() throws Exception {
        connect();
        assertThat(client.getAttributes().get(GrpcAttributes.ATTR_SECURITY_LEVEL))
                .isEqualTo(security());
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
        client = new RackcallClientTransport(nobody(), "localhost", null, Attributes.EMPTY, 1, 1);
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
    void shouldSayWhoIsAtEachEnd() throws Exception {
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

    // ---- streams

    @Test
    void shouldEndAStreamBeforeItsClientDoes() throws Exception {
        connect();
        ClientStream stream = open(new Metadata());
        ServerStream served = accepted();
        served.close(Status.NOT_FOUND, new Metadata());
        assertThat(answers.nextButReady()).isEqualTo("closed NOT_FOUND PROCESSED");
        assertThat(serverEvents.stream.nextButReady()).isEqualTo("closed OK");
        stream.writeMessage(message(10));
        stream.flush();
        stream.halfClose();
        stream.request(1);
        stream.cancel(Status.CANCELLED);
        served.writeMessage(message(10));
        served.flush();
        served.cancel(Status.CANCELLED);
        open(new Metadata());
        accepted().close(Status.OK, new Metadata());
        assertThat(answers.nextButReady()).isEqualTo("closed OK PROCESSED");
    }

    /** With headers before, and without; the client has not half-closed. */
    @Test
    void shouldPassStatusAndTrailersOfAnEarlyEnd() throws Exception {
        connect();
        for (boolean headers : List.of(true, false)) {
            open(new Metadata());
            ServerStream served = accepted();
            if (headers) {
                served.writeHeaders(new Metadata(), true);
                assertThat(answers.nextButReady()).isEqualTo("headers");
            }
            Metadata trailers = new Metadata();
            trailers.put(LONG, "one");
            trailers.put(LONG, "one");
            trailers.put(BINARY, new byte[] {0, -1});
            served.close(Status.OK.withDescription("fine, \u00e4").withCause(new IOException("stays here")), trailers);
            assertThat(answers.nextButReady()).isEqualTo("closed OK PROCESSED");
            assertThat(answers.status.getDescription()).isEqualTo("fine, \u00e4");
            assertThat(answers.status.getCause()).isNull();
            assertThat(answers.trailers.getAll(LONG)).containsExactly("one", "one");
            assertThat(answers.trailers.get(BINARY)).containsExactly(0, -1);
            assertThat(serverEvents.stream.nextButReady()).isEqualTo("closed OK");
            assertThat(trace.status).isSameAs(answers.status);
        }
        assertThat(trace.events)
                .containsExactly(
                        "headers out", "headers in", "trailers in", "closed", "headers out", "trailers in", "closed");
    }

    /** As a blocking stub does that was interrupted. */
    @Test
    void shouldEndOnceIfTheListenerCancelsAtTheEnd() throws Exception {
        connect();
        ClientStream stream = open(new Metadata());
        answers.reaction = () -> stream.cancel(Status.CANCELLED);
        accepted().close(Status.INTERNAL.withDescription("no"), new Metadata());
        assertThat(answers.nextButReady()).isEqualTo("closed INTERNAL PROCESSED");
        requireNewStream();
        assertThat(answers.events).isEmpty();
        assertThat(answers.status.getDescription()).isEqualTo("no");
    }

    @Test
    void shouldCancelFromWithinTheDeliveryOfAMessage() throws Exception {
        connect();
        ClientStream stream = open(new Metadata());
        answers.reaction = () -> stream.cancel(Status.CANCELLED.withDescription("enough"));
        stream.request(1);
        ServerStream served = accepted();
        served.writeHeaders(new Metadata(), false);
        for (int i = 0; i < 3; i++) {
            served.writeMessage(message(10));
        }
        served.flush();
        assertThat(answers.nextButReady()).isEqualTo("headers");
        assertThat(answers.nextButReady()).isEqualTo("message 10");
        assertThat(answers.nextButReady()).startsWith("closed CANCELLED");
        assertThat(answers.status.getDescription()).isEqualTo("enough");
        assertThat(serverEvents.stream.nextButReady()).isEqualTo("closed CANCELLED");
        requireNewStream();
        assertThat(answers.events).isEmpty();
    }

    /** The headers of a unary call leave with its message. */
    @Test
    void shouldCancelACallOfWhichNothingWasSent() throws Exception {
        connect();
        ClientStream stream = open(BytesService.ECHO, new Metadata(), CallOptions.DEFAULT, answers);
        stream.cancel(Status.CANCELLED.withDescription("early"));
        assertThat(answers.nextButReady()).startsWith("closed CANCELLED");
        assertThat(answers.status.getDescription()).isEqualTo("early");
        stream.writeMessage(message(10));
        stream.halfClose();
        stream.cancel(Status.CANCELLED);
        exchangePing();
        assertThat(serverEvents.streams).isEmpty();
        requireNewStream();
        assertThat(answers.events).isEmpty();
        // The server's tracer hears of the end before its listener does, but perhaps after the client.
        assertThat(serverEvents.stream.nextButReady()).isEqualTo("closed OK");
        assertThat(servedTrace.events).containsExactly("begins", "closed");
    }

    @Test
    void shouldEndAStreamWhoseClientWaitsForRoom() throws Exception {
        connect();
        ClientStream stream = open(new Metadata());
        ServerStream served = accepted();
        while (stream.isReady()) {
            stream.writeMessage(message(32 * 1024));
            stream.flush();
        }
        served.close(Status.RESOURCE_EXHAUSTED, new Metadata());
        assertThat(answers.nextButReady()).isEqualTo("closed RESOURCE_EXHAUSTED PROCESSED");
        assertThat(serverEvents.stream.nextButReady()).isEqualTo("closed OK");
        requireNewStream();
    }

    @Test
    void shouldDeliverOnlyAsManyMessagesAsWereRequested() throws Exception {
        connect();
        ClientStream stream = open(new Metadata());
        ServerStream served = accepted();
        served.writeHeaders(new Metadata(), false);
        for (int i = 0; i < 3; i++) {
            stream.writeMessage(message(10));
            served.writeMessage(message(10));
        }
        stream.flush();
        served.flush();
        for (int requested : List.of(1, 2)) {
            served.request(requested);
            stream.request(requested);
            exchangePing();
            Await.equal("messages at the server", requested, () -> messagesOf(serverEvents.stream));
            Await.equal("messages at the client", requested, () -> messagesOf(answers));
            exchangePing();
            assertThat(List.of(messagesOf(serverEvents.stream), messagesOf(answers)))
                    .containsOnly(requested);
            serverEvents.stream.events.clear();
            answers.events.clear();
        }
    }

    private static int messagesOf(StreamEvents events) {
        return (int) events.events.stream()
                .filter(each -> each.startsWith("message"))
                .count();
    }

    @Test
    void shouldCarryMessagesLargerThanTheWindow() throws Exception {
        connect();
        ClientStream stream = open(new Metadata());
        ServerStream served = accepted();
        stream.request(1);
        served.request(1);
        served.writeHeaders(new Metadata(), true);
        assertThat(answers.nextButReady()).isEqualTo("headers");
        stream.writeMessage(message(LARGE));
        stream.flush();
        assertThat(serverEvents.stream.nextButReady()).isEqualTo("message " + LARGE);
        served.writeMessage(message(LARGE));
        served.flush();
        assertThat(answers.nextButReady()).isEqualTo("message " + LARGE);
        stream.halfClose();
        served.request(1);
        assertThat(serverEvents.stream.nextButReady()).isEqualTo("half-closed");
        served.close(Status.OK, new Metadata());
        assertThat(answers.nextButReady()).isEqualTo("closed OK PROCESSED");
        assertThat(serverEvents.stream.nextButReady()).isEqualTo("closed OK");
        assertThat(trace.events)
                .containsExactly(
                        "headers out",
                        "headers in",
                        "sent 0 of " + LARGE,
                        "read 0 of " + LARGE,
                        "trailers in",
                        "closed");
        assertThat(servedTrace.events).containsExactly("begins", "read 0 of " + LARGE, "sent 0 of " + LARGE, "closed");
    }

    @Test
    void shouldCancelFromEitherSideAndTakeWhatComesLate() throws Exception {
        connect();
        ClientStream stream = open(new Metadata());
        ServerStream served = accepted();
        stream.cancel(Status.CANCELLED);
        assertThat(answers.nextButReady()).startsWith("closed CANCELLED");
        served.writeHeaders(new Metadata(), true);
        served.writeMessage(message(10));
        served.flush();
        assertThat(serverEvents.stream.nextButReady()).isEqualTo("closed CANCELLED");
        open(new Metadata());
        ServerStream next = accepted();
        next.writeHeaders(new Metadata(), true);
        assertThat(answers.nextButReady()).isEqualTo("headers");
        next.cancel(Status.INTERNAL);
        assertThat(answers.nextButReady()).startsWith("closed CANCELLED");
        assertThat(serverEvents.stream.nextButReady()).isEqualTo("closed INTERNAL");
    }

    /** Flow control keeps the trailers from the application until it has requested all messages. */
    @Test
    void shouldCancelAStreamWhoseTrailersWaitBehindMessages() throws Exception {
        connect();
        ClientStream stream = open(new Metadata());
        ServerStream served = accepted();
        served.writeHeaders(new Metadata(), true);
        for (int i = 0; i < 3; i++) {
            served.writeMessage(message(10));
        }
        served.close(Status.OK, new Metadata());
        assertThat(answers.nextButReady()).isEqualTo("headers");
        stream.request(1);
        assertThat(answers.nextButReady()).isEqualTo("message 10");
        assertThat(serverEvents.stream.nextButReady()).isEqualTo("closed OK");
        // The answer follows the trailers through the pipe.
        client.ping(pings, MoreExecutors.directExecutor());
        assertThat(take(pings.events)).isEqualTo("took time");
        stream.cancel(Status.CANCELLED);
        assertThat(answers.nextButReady()).isEqualTo("closed CANCELLED PROCESSED");
    }

    @Test
    void shouldPushBackUntilTheServerRequestsMessages() throws Exception {
        connect();
        ClientStream stream = open(new Metadata());
        ServerStream served = accepted();
        assertThat(answers.next()).isEqualTo("ready");
        int sent = 0;
        while (stream.isReady()) {
            stream.writeMessage(message(32 * 1024));
            stream.flush();
            sent++;
            assertThat(sent)
                    .as("messages of 32 KiB that the client has not requested")
                    .isLessThan(1000);
        }
        assertThat(serverEvents.stream.events).doesNotContain("message 32768");
        served.request(sent);
        for (int i = 0; i < sent; i++) {
            assertThat(serverEvents.stream.nextButReady()).isEqualTo("message 32768");
        }
        Await.until("room for more", stream::isReady);
        stream.halfClose();
        served.request(1);
        assertThat(serverEvents.stream.nextButReady()).isEqualTo("half-closed");
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
        ServerTransport transport = take(serverEvents.transports);
        stats = transport.getStats().get(SECONDS, TimeUnit.SECONDS).data;
        assertThat(List.of(stats.streamsStarted, stats.messagesSent)).containsOnly(1L);
        assertThat(stats.lastRemoteStreamCreatedTimeNanos).isPositive();
        assertThat(serverEvents.stream.nextButReady()).isEqualTo("closed OK");
        open(new Metadata()).cancel(Status.CANCELLED);
        accepted();
        assertThat(serverEvents.stream.nextButReady()).isEqualTo("closed CANCELLED");
        stats = transport.getStats().get(SECONDS, TimeUnit.SECONDS).data;
        assertThat(stats.streamsStarted).isEqualTo(2);
        assertThat(stats.streamsFailed).isEqualTo(stats.streamsStarted - stats.streamsSucceeded);
    }

    @Test
    void shouldRefuseMetadataAboveTheLimits() throws Exception {
        connect();
        Metadata tooLong = new Metadata();
        tooLong.put(LONG, "x".repeat(2 * MOST_METADATA));
        open(tooLong);
        assertThat(answers.nextButReady()).startsWith("closed RESOURCE_EXHAUSTED");
        open(new Metadata());
        accepted().writeHeaders(tooLong, true);
        assertThat(answers.nextButReady()).startsWith("closed RESOURCE_EXHAUSTED");
        open(new Metadata());
        accepted().close(Status.OK, tooLong);
        assertThat(answers.nextButReady()).startsWith("closed RESOURCE_EXHAUSTED");
    }
}
