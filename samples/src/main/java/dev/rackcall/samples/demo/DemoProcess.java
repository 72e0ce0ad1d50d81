package dev.rackcall.samples.demo;

import dev.rackcall.samples.demo.DemoMessages.Done;
import dev.rackcall.samples.demo.DemoMessages.Order;
import dev.rackcall.samples.demo.DemoMessages.Role;
import dev.rackcall.samples.demo.DemoMessages.Setup;

/** A process of the store demo: a server or a client. */
final class DemoProcess {
    private DemoProcess() {}

    /** The one argument is a {@link Setup}. */
    public static void main(String[] args) {
        Setup setup = DemoMessages.MAPPER.readValue(args[0], Setup.class);
        ChildOrders.obey(setup.directory(), orders -> {
            if (setup.role() == Role.SERVER) {
                try (StoreServer server = StoreServer.open(setup)) {
                    orders.obeyAll(order -> serve(server, order));
                }
            } else {
                try (ClientWork client = new ClientWork(setup, orders::progress)) {
                    orders.obeyAll(client::obey);
                }
            }
        });
    }

    private static Object serve(StoreServer server, Order order) {
        return switch (order) {
            case CLEAR -> {
                server.store().clear();
                yield new Done();
            }
            case SUMMARY -> server.store().summary();
            default -> throw new IllegalArgumentException("a server does not know the order " + order);
        };
    }
}
