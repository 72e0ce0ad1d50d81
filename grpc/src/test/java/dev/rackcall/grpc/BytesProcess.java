package dev.rackcall.grpc;

import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.internal.testing.StreamRecorder;
import io.grpc.stub.ClientCalls;
import java.io.IOException;
import java.io.OutputStream;

/** A server or a client of {@link BytesService} in a process of its own: {@code serve CHANNEL} or {@code hold CHANNEL}. */
final class BytesProcess {
    private BytesProcess() {}

    public static void main(String[] args) throws IOException {
        if (args[0].equals("serve")) {
            RackcallServerBuilder.forChannel(args[1])
                    .addService(new BytesService())
                    .build()
                    .start();
            System.out.println("serving");
        } else {
            ManagedChannel channel = RackcallChannelBuilder.forChannel(args[1]).build();
            ClientCalls.asyncUnaryCall(
                    channel.newCall(BytesService.HOLD, CallOptions.DEFAULT), new byte[3], StreamRecorder.create());
            System.out.println("calling");
        }
        // Ends with its parent.
        System.in.transferTo(OutputStream.nullOutputStream());
        System.exit(0);
    }
}
