package dev.rackcall.samples.demo;

import dev.rackcall.rpc.RpcServer;
import dev.rackcall.samples.demo.Child.Order;
import dev.rackcall.samples.documents.DocumentStore;
import dev.rackcall.samples.documents.Store;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;

/** A process of the store demo: a server or a client. */
final class DemoProcess {
    /** On an overloaded machine a handler may stall for a while. */
    private static final Duration STUCK_AFTER = Duration.ofSeconds(10);

    private DemoProcess() {}

    /** The setup of a process; {@code client} is a client's number, from 0, and empty for the server. */
    record Setup(Optional<Integer> client, StoreTransport transport, Path directory, DemoPlan plan) {
        /** A separate folder, because the last server in a runtime folder removes that directory. */
        Path runtimeDirectory() {
            return directory.resolve("rackcall");
        }
    }

    /** The one argument is a {@link Setup}. */
    public static void main(String[] args) {
        Setup setup = Child.MAPPER.readValue(args[0], Setup.class);
        Child.run(setup.directory(), child -> {
            if (setup.client().isEmpty()) {
                Store store = new Store();
                try (AutoCloseable server = server(setup, store);
                        store) {
                    child.obeyAll(order -> serve(store, server, order));
                }
            } else {
                try (ClientWork client = new ClientWork(setup, child::progress)) {
                    child.obeyAll(client::obey);
                }
            }
        });
    }

    private static AutoCloseable server(Setup setup, Store store) throws IOException {
        // The limit is the machine's memory, which is only allocated as needed.
        long memory = ManagementFactory.getPlatformMXBean(com.sun.management.OperatingSystemMXBean.class)
                .getTotalMemorySize();
        long quota = memory & -(1L << 20);
        return switch (setup.transport()) {
            case POINTER ->
                RpcServer.builder()
                        .runtimeFolder(setup.runtimeDirectory())
                        .service(DocumentStore.class, store)
                        .sharedQuota(quota)
                        .waiting(setup.plan().waiting())
                        .stuckAfter(STUCK_AFTER)
                        .start();
            case SERIALISED -> new SocketServer(store, setup.directory(), quota);
            case GRPC -> new GrpcServer(store, setup.directory(), setup.plan().clients(), quota);
        };
    }

    private static Object serve(Store store, AutoCloseable server, Order order) {
        return switch (order) {
            case CLEAR -> {
                store.clear();
                if (server instanceof GrpcServer messages) {
                    messages.clear();
                }
                yield true;
            }
            case SUMMARY -> store.summary();
            default -> throw new IllegalArgumentException("a server does not know the order " + order);
        };
    }
}
