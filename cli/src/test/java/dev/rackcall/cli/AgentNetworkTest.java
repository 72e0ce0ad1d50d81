package dev.rackcall.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.cp.ControlAddress;
import dev.rackcall.cp.Tenant;
import dev.rackcall.cp.client.AgentFolder;
import dev.rackcall.rdma.queue.QueueSettings;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.samples.quickstart.Door;
import dev.rackcall.shm.Scope;
import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.TestCertificate;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.MissingNode;

/** {@code rackcall agent} on hosts with addresses of their own, with certificates, whose meta server restarts: calls over virtual queues go on. */
@Timeout(180)
class AgentNetworkTest {
    private static final Duration BOUND = Duration.ofSeconds(60);
    private static final String REGISTERED = System.lineSeparator() + "registered" + System.lineSeparator();

    @TempDir
    private Path folder;

    private final Deque<AutoCloseable> open = new ArrayDeque<>();
    private Path tls;

    /** An agent of this command, in a thread. */
    private final class Host implements AutoCloseable {
        private final StringWriter out = new StringWriter();
        private final StringWriter err = new StringWriter();
        private final Path runtime;
        private final Thread thread;

        Host(String name, String address, String... more) {
            runtime = folder.resolve(name);
            List<String> arguments = new ArrayList<>(List.of("agent", "--host", name, "--listen", address));
            arguments.addAll(List.of("--directory", folder.resolve("members").toUri() + "", "--dir", runtime + ""));
            arguments.addAll(List.of(more));
            CommandLine command = RackcallCommand.commandLine();
            command.setOut(new PrintWriter(out));
            command.setErr(new PrintWriter(err, true));
            // Ends when it is interrupted.
            thread = Thread.ofPlatform().start(() -> command.execute(arguments.toArray(String[]::new)));
            open.push(this);
            await("serves in " + runtime);
        }

        void await(String text) {
            await(text, said -> said.contains(text));
        }

        private void await(String what, Predicate<String> condition) {
            for (long start = System.nanoTime(); !condition.test(out.toString()); Thread.onSpinWait()) {
                assertThat(thread.isAlive() && System.nanoTime() - start < BOUND.toNanos())
                        .as("'%s' in '%s'; %s", what, out, err)
                        .isTrue();
                Thread.yield();
            }
        }

        /** On a machine that does much else, its first question to the meta server may go unanswered. */
        void awaitRegistration() {
            await("registered", said -> {
                int missing =
                        Math.max(said.lastIndexOf("not registered yet: "), said.lastIndexOf("no longer registered: "));
                return missing < 0 || said.indexOf(REGISTERED, missing) > 0;
            });
        }

        Tenant join() {
            Tenant tenant = AgentFolder.join(runtime, "test");
            open.push(() -> {
                QueueSettings.forget(tenant);
                tenant.close();
            });
            return tenant;
        }

        @Override
        public void close() throws InterruptedException {
            open.remove(this);
            thread.interrupt();
            assertThat(thread.join(BOUND)).isTrue();
        }
    }

    /** One certificate for all hosts, which trust it. */
    @BeforeEach
    void makeCertificate() throws IOException {
        tls = Files.createDirectory(folder.resolve("tls"));
        TestCertificate made = TestCertificate.make(tls, "hosts");
        Files.copy(made.certificate(), tls.resolve("certificates.pem"));
        Files.copy(made.certificate(), tls.resolve("authority.pem"));
        Files.copy(made.key(), tls.resolve("key.pem"));
    }

    @AfterEach
    void close() throws Exception {
        while (!open.isEmpty()) {
            open.pop().close();
        }
    }

    private Host meta() {
        return new Host("m", "127.0.0.4", "--tls", tls + "", "--with-meta", "8", "--report", "0.1");
    }

    private Host host(String name, String address) {
        Host host = new Host(name, address, "--tls", tls + "");
        host.awaitRegistration();
        return host;
    }

    /** A channel to a server of its own on this host. */
    private RpcChannel serve(Host host, String name) {
        QueueSettings.use(name, host.join());
        RpcServer server = RpcServer.builder()
                .service(Door.class, guest -> name + " greets " + guest.name())
                .runtimeFolder(folder.resolve("doors-" + name))
                .listen(URI.create("vq://" + name + ":0"))
                .start();
        open.push(server);
        RpcChannel channel = RpcChannel.builder("/quickstart/door")
                .address(server.address().orElseThrow())
                .arenaQuota(1 << 20)
                // Two devices make their first TLS connection, each with code that is not compiled yet.
                .connectTimeout(BOUND)
                .open();
        open.push(channel);
        return channel;
    }

    private static String greet(RpcChannel channel) {
        try (Scope scope = channel.newScope()) {
            return channel.stub(Door.class).greet(scope.create(Door.Guest.class).name("Ann"));
        }
    }

    @Test
    void shouldContinueWhenTheMetaServerRestarts() throws Exception {
        Host meta = meta();
        Host a = host("a", "127.0.0.2");
        Host b = host("b", "127.0.0.3");
        QueueSettings.use(a.join());
        RpcChannel toB = serve(b, "b");
        assertThat(greet(toB)).isEqualTo("b greets Ann");

        meta.await("; meta server: 3 hosts in a table of ");
        meta.close();
        for (Host each : List.of(a, b)) {
            each.await("no longer registered: ");
        }
        assertThat(greet(toB)).isEqualTo("b greets Ann");

        Host next = meta();
        for (Host each : List.of(a, b)) {
            each.awaitRegistration();
        }
        assertThat(greet(toB)).isEqualTo("b greets Ann");
        // Only the restarted meta server knows this host.
        assertThat(greet(serve(host("c", "127.0.0.5"), "c"))).isEqualTo("c greets Ann");
        assertThat(next.thread.isAlive()).isTrue();
    }

    @Test
    void shouldTalkToHostsWithCertificatesOnly() {
        Host meta = meta();
        // Not within its first question, perhaps, on a machine that does much else.
        meta.await("; meta server: 1 host in a table of ");
        Host stranger = new Host("x", "127.0.0.6", "--report", "0.01");
        assertThat(stranger.out.toString()).contains("not registered yet: ", "has not answered");
        stranger.await("0 tenants, ");
        stranger.await(" queue pairs, 0 hosts known in ");
        assertThat(host("a", "127.0.0.2").thread.isAlive()).isTrue();
        meta.await("; meta server: 2 hosts in a table of ");
        assertThat(meta.out.toString()).doesNotContain("3 hosts");
    }

    /** {@code rackcall view} on a host "viewer", and what its page gets of other hosts. */
    private final class View implements AutoCloseable {
        private final StringWriter out = new StringWriter();
        private final HttpClient http = HttpClient.newHttpClient();
        private final Thread thread;
        private final URI address;

        View() {
            CommandLine command = RackcallCommand.commandLine();
            command.setOut(new PrintWriter(out));
            command.setErr(new PrintWriter(new StringWriter()));
            String members = folder.resolve("members").toUri().toString();
            // Ends when it is interrupted.
            thread = Thread.ofPlatform()
                    .start(() -> command.execute("view", "--host", "viewer", "--directory", members));
            open.push(this);
            Await.until(
                    "its address",
                    () -> out.toString().contains("http://") && out.toString().endsWith("\n"));
            address = URI.create(
                    out.toString().substring(out.toString().indexOf("http://")).strip());
        }

        /** The state of that host; missing if it is not shown. */
        JsonNode host(String name) {
            ask("rack");
            for (JsonNode each : JsonMapper.builder().build().readTree(ask("hosts"))) {
                if (each.get("state").get("host").asString().equals(name)) {
                    return each.get("state");
                }
            }
            return MissingNode.getInstance();
        }

        private String ask(String path) {
            try {
                return http.send(HttpRequest.newBuilder(address.resolve(path)).build(), BodyHandlers.ofString())
                        .body();
            } catch (IOException | InterruptedException e) {
                throw new AssertionError(e);
            }
        }

        @Override
        public void close() throws InterruptedException {
            open.remove(this);
            http.shutdownNow();
            thread.interrupt();
            assertThat(thread.join(BOUND)).isTrue();
        }
    }

    @Test
    void shouldTellTheirNumbersToHostsWithCertificatesOnly() throws Exception {
        Host meta = meta();
        Host told = host("told", "127.0.0.2");
        told.await("serves this host's numbers to rackcall view on other hosts");
        Tenant member = meta.join();
        QueueSettings.use(member);
        try (View view = new View()) {
            Await.until("its numbers", () -> view.host("told").path("problem").isNull());
            assertThat(view.host("told").path("processes").isArray()).isTrue();
        }
        QueueSettings.forget(member);

        // It knows where the host is, and lacks only a certificate.
        Matcher address = Pattern.compile("control address: (\\S+)").matcher(told.out.toString());
        assertThat(address.find()).isTrue();
        QueueSettings.reach("told", ControlAddress.parse(address.group(1)));
        QueueSettings.use(new Host("x", "127.0.0.6").join());
        try (View view = new View()) {
            Await.until(
                    "the failures of some attempts",
                    () -> view.host("told").path("sequence").asLong() >= 3);
            JsonNode refused = view.host("told");
            assertThat(refused.path("problem").asString()).startsWith("its agent cannot be reached: ");
            assertThat(refused.path("processes").size()).isZero();
        }
    }

    @Test
    void shouldTellNumbersOnlyIfItListensForOtherHosts() throws Exception {
        try (Host a = new Host("a", "127.0.0.2", "--report", "0.01")) {
            a.await("0 tenants, ");
            assertThat(samplers()).isPositive();
        }
        StringWriter out = new StringWriter();
        CommandLine command = RackcallCommand.commandLine();
        command.setOut(new PrintWriter(out));
        command.setErr(new PrintWriter(new StringWriter()));
        String members = folder.resolve("members").toUri().toString();
        Thread alone = Thread.ofPlatform()
                .start(() -> command.execute(
                        "agent", "--host", "b", "--directory", members, "--dir", folder + "/b", "--report", "0.01"));
        open.push(alone::interrupt);
        Await.until("its first report", () -> out.toString().contains("0 tenants, "));
        // Those of agents that have just ended may still end.
        Await.until("no sampler", () -> samplers() == 0);
        alone.interrupt();
        assertThat(alone.join(BOUND)).isTrue();
    }

    /** Threads that watch processes for viewers. */
    private static long samplers() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().equals("rackcall-view"))
                .count();
    }
}
