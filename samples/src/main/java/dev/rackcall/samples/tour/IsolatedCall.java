package dev.rackcall.samples.tour;

import dev.rackcall.rpc.CallOptions;
import dev.rackcall.rpc.Isolation;
import dev.rackcall.rpc.Rpc;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.RpcService;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.types.Shared;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Isolation: the server accepts only arguments that their owner cannot change while the handler checks and uses them. */
@RpcService(value = "/samples/isolation", isolation = Isolation.SNAPSHOT)
public interface IsolatedCall {
    /** An order to a bank. */
    @Shared
    interface Payment {
        long cents();

        Payment cents(long value);
    }

    @Rpc
    String pay(Payment payment);

    /** The handler. Without isolation the amount could change between the check and its use. */
    static String checkAndPay(Payment payment) {
        if (payment.cents() > 1_000) {
            return "refused";
        }
        return "paid " + payment.cents() + " cents";
    }

    static void main(String[] args) throws IOException {
        Path folder = Files.createTempDirectory("rackcall-sample-");
        try (RpcServer _ = RpcServer.builder()
                        .runtimeFolder(folder)
                        .service(IsolatedCall.class, IsolatedCall::checkAndPay)
                        .start();
                RpcChannel channel = RpcChannel.builder("/samples/isolation")
                        .runtimeFolder(folder)
                        .open();
                Scope scope = channel.newScope()) {
            Payment payment = scope.create(Payment.class).cents(250);
            System.out.println("snapshot: " + channel.stub(IsolatedCall.class).pay(payment));
            CallOptions trusted = CallOptions.DEFAULT.withIsolation(Isolation.TRUSTED);
            try {
                channel.stub(IsolatedCall.class, trusted).pay(payment);
            } catch (RpcException e) {
                System.out.println("trusted: " + e.code());
            }
        }
    }
}
