package dev.rackcall.grpc;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.util.concurrent.MoreExecutors;
import dev.rackcall.grpc.wire.OutboundStream;
import dev.rackcall.testkit.Await;
import io.grpc.CallOptions;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.internal.ClientStream;
import io.grpc.internal.ServerStream;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What gRPC's channel and server expect of a transport's streams; see {@link TransportContractTest}. */
class StreamContractTest extends TransportFixture {
    /** More than the window of a stream. */
    private static final int LARGE = 3 * OutboundStream.WINDOW;

    private static final Metadata.Key<byte[]> BINARY = Metadata.Key.of("bytes-bin", Metadata.BINARY_BYTE_MARSHALLER);
    private static final Metadata.Key<String> LONG = Metadata.Key.of("long", Metadata.ASCII_STRING_MARSHALLER);

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
