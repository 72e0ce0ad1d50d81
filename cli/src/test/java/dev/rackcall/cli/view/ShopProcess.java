package dev.rackcall.cli.view;

import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.samples.quickstart.Door;
import dev.rackcall.shm.Scope;
import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.ChildJvm;
import java.io.IOException;
import java.net.URI;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

/**
 * A process of a shop. Its first argument is the channel that it serves, or {@code -}; behind it may be an address, as in
 * {@code /shop/cart@soft://127.0.0.1:0}, which it prints as chosen. Each other argument is a channel that a thread calls,
 * perhaps with an address, and how often a second, as in {@code /shop/cart=1000}. It prints "ready" after the first call
 * of each, and ends with its input.
 */
final class ShopProcess {
    private ShopProcess() {}

    /** Another JVM, which the kernel, and so the page, knows by that name. */
    static ChildJvm.Launch named(String name, Class<?> main, Object... arguments) {
        return ChildJvm.of(main, arguments)
                .behind(List.of("bash", "-c", "exec -a \"$VIEW_NAME\" \"$0\" \"$@\""))
                .environment("VIEW_NAME", name);
    }

    /** The program. */
    public static void main(String[] arguments) throws IOException {
        if (!arguments[0].equals("-")) {
            String[] place = arguments[0].split("@");
            RpcServer.Builder server = RpcServer.builder().service(Door.class, Door.Guest::name, place[0]);
            Stream.of(place).skip(1).map(URI::create).forEach(server::listen);
            server.start().addresses().forEach(System.out::println);
        }
        for (int i = 1; i < arguments.length; i++) {
            String[] words = arguments[i].split("=");
            call(words[0], TimeUnit.SECONDS.toNanos(1) / Long.parseLong(words[1]));
        }
        System.out.println("ready");
        while (System.in.read() >= 0) {
            // Whatever it is sent.
        }
        System.exit(0);
    }

    /** Calls until the server is gone. */
    @SuppressWarnings("resource") // the process ends with its channel
    private static void call(String name, long pauseNanos) {
        String[] place = name.split("@");
        RpcChannel.Builder builder = RpcChannel.builder(place[0]).connectTimeout(Await.BOUND);
        Stream.of(place).skip(1).map(URI::create).forEach(builder::address);
        RpcChannel channel = builder.open();
        Scope scope = channel.newScope();
        Door door = channel.stub(Door.class);
        Door.Guest guest = scope.create(Door.Guest.class).name("Ada");
        door.greet(guest);
        Thread.ofPlatform().daemon().start(() -> {
            try {
                while (true) {
                    door.greet(guest);
                    LockSupport.parkNanos(pauseNanos);
                }
            } catch (RpcException e) {
                System.out.println("failed " + e.code());
            }
        });
    }
}
