package dev.rackcall.grpc;

import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.stub.ClientCalls;
import java.io.IOException;

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
            ClientCalls.futureUnaryCall(channel.newCall(BytesService.HOLD, CallOptions.DEFAULT), new byte[3]);
            System.out.println("calling");
        }
        // Ends with its parent.
        while (System.in.read() >= 0) {
            continue;
        }
        System.exit(0);
    }
}
