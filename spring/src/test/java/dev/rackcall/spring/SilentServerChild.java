package dev.rackcall.spring;

import dev.rackcall.rpc.RpcServer;
import java.io.IOException;
import java.nio.file.Path;

/**
 * A process that serves carts under the given names, until the end of its input. It prints "serving", and falls silent when
 * the test stops it.
 */
final class SilentServerChild {
    private SilentServerChild() {}

    /** @param arguments the runtime folder, then the channels */
    static void main(String[] arguments) throws IOException {
        RpcServer.Builder builder = RpcServer.builder().runtimeFolder(Path.of(arguments[0]));
        for (int i = 1; i < arguments.length; i++) {
            builder.service(Cart.class, new Basket(), arguments[i]);
        }
        try (RpcServer _ = builder.start()) {
            System.out.println("serving");
            while (System.in.read() >= 0) {}
        }
    }
}
