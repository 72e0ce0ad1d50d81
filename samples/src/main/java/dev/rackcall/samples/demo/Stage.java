package dev.rackcall.samples.demo;

import dev.rackcall.samples.demo.DemoMessages.Done;
import dev.rackcall.samples.demo.DemoMessages.Order;
import dev.rackcall.samples.demo.DemoMessages.Role;
import dev.rackcall.samples.demo.DemoMessages.Setup;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** A server process and its clients, which carry out orders at the same time. Used by one thread. */
final class Stage implements AutoCloseable {
    private final String title;
    private final DemoProgress progress;
    private final ChildProcess server;
    private final List<ChildProcess> clients = new ArrayList<>();

    /** Starts all processes; they are ready when this returns. */
    Stage(DemoPlan plan, StoreTransport transport, Workplace workplace, DemoProgress progress) {
        this.title = transport.title();
        this.progress = progress;
        Path directory = workplace.directory();
        this.server = ChildProcess.start(
                "server (" + title + ")",
                DemoProcess.class,
                new Setup(Role.SERVER, transport, directory, plan, 0),
                workplace);
        server.awaitReady(this::reportStart);
        for (int client = 0; client < plan.clients(); client++) {
            clients.add(ChildProcess.start(
                    "client " + (client + 1) + " (" + title + ")",
                    DemoProcess.class,
                    new Setup(Role.CLIENT, transport, directory, plan, client),
                    workplace));
        }
        clients.forEach(client -> client.awaitReady(this::reportStart));
    }

    private void reportStart() {
        progress.report(title + ": starting processes", 0, 0);
    }

    /** All clients carry out the order; returns their answers, in their order. {@code before} and {@code total} are for the progress. */
    <T> List<T> clients(Order order, Class<T> type, String what, long before, long total) {
        clients.forEach(client -> client.order(order));
        List<T> answers = new ArrayList<>();
        for (ChildProcess client : clients) {
            answers.add(client.await(
                    type,
                    () -> progress.report(
                            title + ": " + what,
                            before
                                    + clients.stream()
                                            .mapToLong(ChildProcess::progress)
                                            .sum(),
                            total)));
        }
        return answers;
    }

    <T> T server(Order order, Class<T> type, String what) {
        server.order(order);
        return server.await(type, () -> progress.report(title + ": " + what, 0, 0));
    }

    /** Lets the code of both sides be compiled before anything is measured. */
    void warmUp() {
        clients(Order.WARM_UP, Done.class, "warming up", 0, 0);
        server(Order.CLEAR, Done.class, "warming up");
    }

    @Override
    public void close() {
        clients.forEach(client -> client.order(Order.QUIT));
        clients.forEach(ChildProcess::close);
        server.close();
    }
}
