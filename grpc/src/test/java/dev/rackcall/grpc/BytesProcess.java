package dev.rackcall.grpc;

import io.grpc.CallOptions;
import io.grpc.Server;
import io.grpc.internal.testing.StreamRecorder;
import io.grpc.stub.ClientCalls;
import java.io.IOException;
import java.io.OutputStream;
import java.net.URI;

/**
 * A server or a client of {@link BytesService} in a process of its own: {@code serve CHANNEL [URI [DIRECTORY]]} or {@code hold
 * CHANNEL [URI]}.
 */
final class BytesProcess {
    private BytesProcess() {}

    public static void main(String[] args) throws IOException {
        if (args[0].equals("serve")) {
            RackcallServerBuilder builder =
                    RackcallServerBuilder.forChannel(args[1]).addService(new BytesService());
            if (args.length > 2) {
                builder.listen(URI.create(args[2]));
            }
            if (args.length > 3) {
                builder.directory(URI.create(args[3]));
            }
            Server server = builder.build().start();
            if (args.length > 2) {
                System.out.println("at "
                        + RemoteChannelTest.remote(server.getListenSockets())
                                .remote()
                                .orElseThrow());
            }
            System.out.println("serving");
        } else {
            RackcallChannelBuilder builder = args.length > 2
                    ? RackcallChannelBuilder.forAddress(RackcallSocketAddress.of(args[1], URI.create(args[2])))
                    : RackcallChannelBuilder.forChannel(args[1]);
            ClientCalls.asyncUnaryCall(
                    builder.build().newCall(BytesService.HOLD, CallOptions.DEFAULT),
                    new byte[3],
                    StreamRecorder.create());
            System.out.println("calling");
        }
        // Ends with its parent.
        System.in.transferTo(OutputStream.nullOutputStream());
        System.exit(0);
    }
}
