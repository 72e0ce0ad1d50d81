package dev.rackcall.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.cp.HostId;
import dev.rackcall.cp.Tenant;
import dev.rackcall.cp.agent.Agent;
import dev.rackcall.cp.agent.AgentOptions;
import dev.rackcall.cp.meta.MetaServer;
import dev.rackcall.directory.ChannelName;
import dev.rackcall.directory.Directory;
import dev.rackcall.directory.Endpoint;
import dev.rackcall.rdma.queue.QueueSettings;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.spi.ServiceDefinition;
import dev.rackcall.samples.quickstart.Door;
import dev.rackcall.verbs.soft.SoftDevice;
import dev.rackcall.verbs.soft.SoftOptions;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** What {@code rackcall explain} says of servers that run, and of those that do not. */
@Timeout(180)
class ExplainCommandTest {
    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    @TempDir
    private Path folder;

    private URI members;
    private Path runtime;

    @BeforeEach
    void place() {
        members = folder.resolve("members").toUri();
        runtime = folder.resolve("run");
    }

    /** As {@link #explain}, and on a machine that does much else the best way is to be the one that is used, too. */
    private int explainPatiently(String... arguments) {
        List<String> all = new ArrayList<>(List.of(arguments));
        all.addAll(List.of("--timeout", "40"));
        return explain(all.toArray(String[]::new));
    }

    private int explain(String... arguments) {
        CommandLine command = RackcallCommand.commandLine();
        command.setOut(new PrintWriter(out, true));
        command.setErr(new PrintWriter(err, true));
        return command.execute(arguments);
    }

    private RpcServer serve() {
        return RpcServer.builder()
                .service(Door.class, Door.Guest::name)
                .runtimeFolder(runtime)
                .directory(members)
                .host("host-a")
                .listen(URI.create("rdma://127.0.0.1:0"))
                .start();
    }

    @Test
    void shouldShowTheUsedRouteAndWhyTheOthersAreNotUsed() {
        try (RpcServer server = serve()) {
            String channel = server.channels().getFirst();
            assertThat(explainPatiently(
                            "explain", channel, "--directory", members.toString(), "--dir", runtime.toString()))
                    .as(err.toString())
                    .isZero();
            assertThat(explainPatiently(
                            "explain",
                            channel,
                            "--directory",
                            members.toString(),
                            "--dir",
                            folder + "/other",
                            "--host",
                            "b"))
                    .isZero();
        }
        assertThat(out.toString())
                .containsPattern("host-a-[0-9a-f-]+ on host-a")
                .containsPattern("same process +used +the best route that works")
                .containsPattern("software device over TCP +not needed +a better route works: same process")
                .containsPattern("pool memory +no +its server serves no pool")
                .containsPattern("RDMA +no +its server announces no RDMA device");
    }

    @Test
    void shouldReportTheProblemOfEachRouteToADeadServer() {
        ServiceDefinition<Door> door = ServiceDefinition.of(Door.class);
        String channel = door.channel();
        try (Directory directory = Directory.open(members)) {
            directory.announce(
                    ChannelName.of(channel),
                    Endpoint.of("gone", "host-z", door.fingerprint())
                            .withTcp(List.of(URI.create("rdma://127.0.0.1:1"))));
            assertThat(explain("explain", channel, "--directory", members.toString(), "--dir", runtime.toString()))
                    .isEqualTo(1);
            assertThat(err.toString())
                    .contains("gone on host-z")
                    .contains("same process: its server runs in another process")
                    .contains("host memory: its server serves no memory of its host")
                    .contains("pool memory: its server serves no pool")
                    .contains("RDMA: its server announces no RDMA device")
                    .contains("software device over TCP: no server is listening at rdma://127.0.0.1:1");
            try (RpcServer server = serve()) {
                assertThat(server.channels()).containsExactly(channel);
                assertThat(explainPatiently(
                                "explain", channel, "--directory", members.toString(), "--dir", runtime.toString()))
                        .as(err.toString())
                        .isZero();
            }
        }
        assertThat(out.toString())
                .containsPattern("host-a-[0-9a-f-]+ on host-a")
                .containsPattern("same process +used")
                .containsPattern("gone on host-z")
                .containsPattern("same process +no +its server runs in another process");
    }

    /** Seen from a process that has an agent, and from one that has none. */
    @Test
    void shouldNameTheUsedCarrierAndWhyTheOtherIsNotUsed() {
        ServiceDefinition<Door> door = ServiceDefinition.of(Door.class);
        String channel = door.channel();
        try (MetaServer meta = MetaServer.open(SoftDevice.of("meta", SoftOptions.local()), 16);
                Agent agent = Agent.open(
                        SoftDevice.of("host-a", SoftOptions.local()),
                        AgentOptions.of(HostId.named("host-a")).withMeta(meta::address));
                Tenant tenant = agent.admit("explain");
                Directory directory = Directory.open(members)) {
            QueueSettings.use(tenant);
            try (RpcServer server = RpcServer.builder()
                    .service(Door.class, Door.Guest::name)
                    .runtimeFolder(runtime)
                    .listen(URI.create("vq://host-a:0"))
                    .listen(URI.create("rdma://127.0.0.1:0"))
                    .start()) {
                directory.announce(
                        ChannelName.of(channel),
                        Endpoint.of("far", "host-a", door.fingerprint()).withTcp(server.addresses()));
                assertThat(explainPatiently(
                                "explain", channel, "--directory", members.toString(), "--dir", folder + "/other"))
                        .as(err.toString())
                        .isZero();
                QueueSettings.forget(tenant);
                assertThat(explainPatiently(
                                "explain", channel, "--directory", members.toString(), "--dir", folder + "/other"))
                        .as(err.toString())
                        .isZero();
            }
        }
        assertThat(out.toString())
                .containsPattern("virtual queues over RDMA +no +its server announces no RDMA device")
                .containsPattern("virtual queues over TCP +used +the best route that works \\(vq://host-a:[0-9]+\\)")
                .containsPattern(
                        "software device over TCP +not needed +virtual queues work, which are there at once and share"
                                + " queue pairs \\(rdma://127.0.0.1:[0-9]+\\)")
                .containsPattern(
                        "virtual queues over TCP +no +this process takes no part in a control plane: no agent process"
                                + " serves in /.* \\(vq://host-a:[0-9]+\\)")
                .containsPattern("software device over TCP +used +the best route that works");
    }

    @Test
    void shouldReportAChannelWithoutServer() {
        assertThat(explain("explain", "/no/such", "--directory", members.toString()))
                .isEqualTo(1);
        assertThat(err.toString()).contains("names no server of channel /no/such");
    }

    @Test
    void shouldLookAtThisHostWithoutADirectory() {
        try (RpcServer server = serve()) {
            assertThat(explainPatiently("explain", server.channels().getFirst(), "--dir", runtime.toString()))
                    .as(err.toString())
                    .isZero();
        }
        assertThat(out.toString()).contains("by the memory of this host").contains(runtime.toString());
        assertThat(explain("explain", "/no/such", "--dir", runtime.toString())).isEqualTo(1);
        assertThat(err.toString()).contains("no server has channel /no/such");
    }

    @Test
    void shouldListTheSupportedDirectories() {
        assertThat(explain("explain", "/a", "--directory", "etcd://x")).isEqualTo(2);
        assertThat(err.toString()).contains("etcd://x").contains("zk:").contains("file:");
    }

    @Test
    void shouldTakeAsLongAsItIsGiven() {
        try (RpcServer server = serve()) {
            String channel = server.channels().getFirst();
            assertThat(explain("explain", channel, "--dir", runtime.toString(), "--timeout", "30.5"))
                    .as(err.toString())
                    .isZero();
            for (String wrong : List.of("0", "-1", "NaN", "1e9", "soon")) {
                assertThat(explain("explain", channel, "--dir", runtime.toString(), "--timeout", wrong))
                        .as(wrong)
                        .isEqualTo(2);
            }
        }
        assertThat(err.toString()).contains("--timeout 0.0: give a number of seconds above 0");
    }
}
