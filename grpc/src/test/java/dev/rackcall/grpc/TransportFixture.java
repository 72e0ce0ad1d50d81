package dev.rackcall.grpc;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.util.concurrent.MoreExecutors;
import io.grpc.Attributes;
import io.grpc.CallOptions;
import io.grpc.ClientStreamTracer;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.ServerStreamTracer;
import io.grpc.Status;
import io.grpc.internal.ClientStream;
import io.grpc.internal.ClientStreamListener;
import io.grpc.internal.ClientTransport.PingCallback;
import io.grpc.internal.DisconnectError;
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
import org.junit.jupiter.api.io.TempDir;

/** A server and a client without gRPC's channel above them, and what each of them reports. */
abstract class TransportFixture {
    static final long SECONDS = 100;
    static final int MOST_METADATA = 1000;

    @TempDir
    private Path directory;

    final Traced trace = new Traced();
    final Traced servedTrace = new Traced();
    final ServerEvents serverEvents = new ServerEvents();
    final ClientEvents clientEvents = new ClientEvents();
    final StreamEvents answers = new StreamEvents();
    final PingEvents pings = new PingEvents();
    RackcallClientTransport client;
    private RackcallServer server;

    @BeforeEach
    void start() throws IOException {
        server = new RackcallServer(
                address(),
                remote(0).stream().toList(),
                false,
                Optional.empty(),
                ConnectionLimits.NONE,
                1 << 20,
                MOST_METADATA,
                List.of(servedTrace.ofServer()));
        server.start(serverEvents);
        client = new RackcallClientTransport(
                isRemote() ? RemoteChannelTest.remote(server.getListenSocketAddresses()) : address(),
                "localhost",
                null,
                Attributes.EMPTY,
                1 << 20,
                MOST_METADATA);
    }

    /** Where a server at that port listens for clients that share no memory with it; empty if they do. */
    Optional<URI> remote(int port) {
        return Optional.empty();
    }

    final boolean isRemote() {
        return remote(0).isPresent();
    }

    private RackcallSocketAddress address() {
        return RackcallSocketAddress.of("/test/contract", directory);
    }

    /** Where no server is. */
    final RackcallSocketAddress unserved() {
        return remote(1)
                .map(uri -> RackcallSocketAddress.of("/test/unserved", uri))
                .orElseGet(() -> RackcallSocketAddress.of("/test/unserved", directory));
    }

    @AfterEach
    void stop() throws InterruptedException {
        client.shutdownNow(Status.UNAVAILABLE);
        server.shutdown();
        assertThat(serverEvents.next()).isEqualTo("shutdown");
    }

    static <T> T take(BlockingQueue<T> queue) throws InterruptedException {
        T next = queue.poll(SECONDS, TimeUnit.SECONDS);
        assertThat(next).as("an event within " + SECONDS + " s").isNotNull();
        return next;
    }

    final void connect() throws InterruptedException {
        client.start(clientEvents).run();
        assertThat(clientEvents.next()).isEqualTo("ready");
    }

    /** Begins a bidirectional stream. */
    final ClientStream open(Metadata headers) {
        return open(BytesService.CHAT, headers, CallOptions.DEFAULT, answers);
    }

    final ClientStream open(
            MethodDescriptor<byte[], byte[]> method, Metadata headers, CallOptions options, StreamEvents listener) {
        ClientStream stream = client.newStream(method, headers, options, new ClientStreamTracer[] {trace.ofClient()});
        stream.start(listener);
        return stream;
    }

    /** Waits until each side has taken what the other has sent before. */
    final void exchangePing() throws InterruptedException {
        client.ping(pings, MoreExecutors.directExecutor());
        assertThat(take(pings.events)).isEqualTo("took time");
    }

    /** A new stream shows that the connection is sound. */
    final void requireNewStream() throws InterruptedException {
        StreamEvents listener = new StreamEvents();
        open(BytesService.CHAT, new Metadata(), CallOptions.DEFAULT, listener);
        accepted().close(Status.OK, new Metadata());
        assertThat(listener.nextButReady()).isEqualTo("closed OK PROCESSED");
    }

    final ServerStream accepted() throws InterruptedException {
        return take(serverEvents.streams);
    }

    static InputStream message(int bytes) {
        return new ByteArrayInputStream(new byte[bytes]);
    }

    static final class ClientEvents implements ManagedClientTransport.Listener {
        final BlockingQueue<String> events = new LinkedBlockingQueue<>();

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

    static final class ServerEvents implements ServerListener, ServerTransportListener {
        final BlockingQueue<String> events = new LinkedBlockingQueue<>();
        final BlockingQueue<ServerStream> streams = new LinkedBlockingQueue<>();
        final BlockingQueue<ServerTransport> transports = new LinkedBlockingQueue<>();
        final StreamEvents stream = new StreamEvents();

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
    static final class StreamEvents implements ServerStreamListener, ClientStreamListener {
        final BlockingQueue<String> events = new LinkedBlockingQueue<>();
        /** Of the last end. */
        volatile Status status;

        volatile Metadata trailers;
        /** What runs at each message and end. */
        volatile Runnable reaction = () -> {};

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
    static final class Traced {
        final BlockingQueue<String> events = new LinkedBlockingQueue<>();
        volatile Status status;

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

    static final class PingEvents implements PingCallback {
        final BlockingQueue<String> events = new LinkedBlockingQueue<>();

        @Override
        public void onSuccess(long nanos) {
            events.add(nanos > 0 ? "took time" : "took " + nanos);
        }

        @Override
        public void onFailure(Status cause) {
            events.add("failed " + cause.getCode());
        }
    }
}
