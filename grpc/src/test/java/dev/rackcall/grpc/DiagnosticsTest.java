package dev.rackcall.grpc;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.MessageLite;
import dev.rackcall.testkit.Await;
import io.grpc.BinaryLog;
import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.Server;
import io.grpc.binarylog.v1.GrpcLogEntry;
import io.grpc.channelz.v1.Channel;
import io.grpc.channelz.v1.ChannelRef;
import io.grpc.channelz.v1.ChannelzGrpc;
import io.grpc.channelz.v1.GetChannelRequest;
import io.grpc.channelz.v1.GetServerSocketsRequest;
import io.grpc.channelz.v1.GetServersRequest;
import io.grpc.channelz.v1.GetSocketRequest;
import io.grpc.channelz.v1.GetSubchannelRequest;
import io.grpc.channelz.v1.GetTopChannelsRequest;
import io.grpc.channelz.v1.Socket;
import io.grpc.channelz.v1.SocketRef;
import io.grpc.protobuf.services.BinaryLogSink;
import io.grpc.protobuf.services.BinaryLogs;
import io.grpc.protobuf.services.ChannelzService;
import io.grpc.stub.ClientCalls;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** gRPC's own binary log and channelz look at calls, channels and sockets over this transport. */
class DiagnosticsTest {
    private static final String CHANNEL = "/test/diagnostics";
    private static final byte[] HELLO = {1, 2, 3};
    private static final int MOST = 100;

    @TempDir
    private Path directory;

    private final Entries ofClient = new Entries();
    private final Entries ofServer = new Entries();
    private BinaryLog clientLog;
    private BinaryLog serverLog;
    private Server server;
    private ManagedChannel channel;

    private static final class Entries implements BinaryLogSink {
        private final Queue<GrpcLogEntry> all = new ConcurrentLinkedQueue<>();

        @Override
        public void write(MessageLite message) {
            all.add((GrpcLogEntry) message);
        }

        @Override
        public void close() {
            // Nothing is open.
        }

        private List<GrpcLogEntry.EventType> types() {
            return all.stream().map(GrpcLogEntry::getType).toList();
        }

        private GrpcLogEntry first(GrpcLogEntry.EventType type) {
            return all.stream()
                    .filter(each -> each.getType() == type)
                    .findFirst()
                    .orElseThrow();
        }
    }

    @BeforeEach
    void start() throws IOException {
        clientLog = BinaryLogs.createBinaryLog(ofClient, "test.Bytes/*");
        serverLog = BinaryLogs.createBinaryLog(ofServer, "test.Bytes/*");
        RackcallSocketAddress address = RackcallSocketAddress.of(CHANNEL, directory);
        server = RackcallServerBuilder.forAddress(address)
                .addService(new BytesService())
                .addService(ChannelzService.newInstance(MOST))
                .setBinaryLog(serverLog)
                .build()
                .start();
        channel = RackcallChannelBuilder.forAddress(address)
                .setBinaryLog(clientLog)
                .build();
        CallOptions options = CallOptions.DEFAULT.withDeadlineAfter(100, TimeUnit.SECONDS);
        assertThat(ClientCalls.blockingUnaryCall(channel, BytesService.ECHO, options, HELLO))
                .isEqualTo(HELLO);
    }

    @AfterEach
    void stop() throws Exception {
        channel.shutdownNow();
        server.shutdownNow();
        assertThat(server.awaitTermination(100, TimeUnit.SECONDS)).isTrue();
        clientLog.close();
        serverLog.close();
    }

    @Test
    void shouldLogCallsOnBothSides() {
        for (Entries entries : List.of(ofClient, ofServer)) {
            Await.equal("entries", 6, entries.all::size);
            assertThat(entries.types())
                    .containsExactlyInAnyOrder(
                            GrpcLogEntry.EventType.EVENT_TYPE_CLIENT_HEADER,
                            GrpcLogEntry.EventType.EVENT_TYPE_CLIENT_MESSAGE,
                            GrpcLogEntry.EventType.EVENT_TYPE_CLIENT_HALF_CLOSE,
                            GrpcLogEntry.EventType.EVENT_TYPE_SERVER_HEADER,
                            GrpcLogEntry.EventType.EVENT_TYPE_SERVER_MESSAGE,
                            GrpcLogEntry.EventType.EVENT_TYPE_SERVER_TRAILER);
            GrpcLogEntry begun = entries.first(GrpcLogEntry.EventType.EVENT_TYPE_CLIENT_HEADER);
            assertThat(begun.getClientHeader().getMethodName()).isEqualTo("/test.Bytes/Echo");
            assertThat(begun.getClientHeader().getAuthority()).isEqualTo("localhost");
            assertThat(entries.first(GrpcLogEntry.EventType.EVENT_TYPE_SERVER_MESSAGE)
                            .getMessage()
                            .getData()
                            .toByteArray())
                    .isEqualTo(HELLO);
        }
        // gRPC knows no kind of address for it, and takes its text.
        assertThat(ofClient.first(GrpcLogEntry.EventType.EVENT_TYPE_SERVER_HEADER)
                        .getPeer()
                        .getAddress())
                .contains(CHANNEL);
        assertThat(ofServer.first(GrpcLogEntry.EventType.EVENT_TYPE_CLIENT_HEADER)
                        .getPeer()
                        .getAddress())
                .contains(Long.toString(ProcessHandle.current().pid()));
    }

    @Test
    void shouldShowTheChannelItsSubchannelAndItsSocket() {
        ChannelzGrpc.ChannelzBlockingStub channelz = channelz();
        String target = RackcallSocketAddress.of(CHANNEL, directory).target();
        Channel mine = channelz.getTopChannels(GetTopChannelsRequest.getDefaultInstance()).getChannelList().stream()
                .filter(each -> each.getData().getTarget().equals(target))
                .findFirst()
                .orElseThrow();
        ChannelRef channelRef = mine.getRef();
        mine = channelz.getChannel(GetChannelRequest.newBuilder()
                        .setChannelId(channelRef.getChannelId())
                        .build())
                .getChannel();
        assertThat(mine.getData().getCallsSucceeded()).isPositive();
        List<SocketRef> sockets = channelz.getSubchannel(GetSubchannelRequest.newBuilder()
                        .setSubchannelId(mine.getSubchannelRef(0).getSubchannelId())
                        .build())
                .getSubchannel()
                .getSocketRefList();
        assertThat(sockets).hasSize(1);
        Socket socket = socket(channelz, sockets.getFirst());
        assertThat(socket.getRemote().getOtherAddress().getName()).contains(CHANNEL);
        assertThat(socket.getLocal().getOtherAddress().getName())
                .contains(Long.toString(ProcessHandle.current().pid()));
        assertThat(socket.getData().getStreamsSucceeded()).isPositive();
        assertThat(socket.getData().getMessagesSent()).isPositive();
    }

    @Test
    void shouldShowTheServerAndTheSocketsOfItsClients() {
        ChannelzGrpc.ChannelzBlockingStub channelz = channelz();
        List<Socket> mine = channelz.getServers(GetServersRequest.getDefaultInstance()).getServerList().stream()
                .flatMap(each -> channelz
                        .getServerSockets(GetServerSocketsRequest.newBuilder()
                                .setServerId(each.getRef().getServerId())
                                .build())
                        .getSocketRefList()
                        .stream())
                .map(each -> socket(channelz, each))
                .filter(each -> each.getLocal().getOtherAddress().getName().contains(CHANNEL))
                .toList();
        assertThat(mine).hasSize(1);
        assertThat(mine.getFirst().getRemote().getOtherAddress().getName())
                .contains(Long.toString(ProcessHandle.current().pid()));
        assertThat(mine.getFirst().getData().getStreamsStarted()).isGreaterThan(1);
    }

    private ChannelzGrpc.ChannelzBlockingStub channelz() {
        return ChannelzGrpc.newBlockingStub(channel).withDeadlineAfter(100, TimeUnit.SECONDS);
    }

    private static Socket socket(ChannelzGrpc.ChannelzBlockingStub channelz, SocketRef socket) {
        return channelz.getSocket(GetSocketRequest.newBuilder()
                        .setSocketId(socket.getSocketId())
                        .build())
                .getSocket();
    }
}
