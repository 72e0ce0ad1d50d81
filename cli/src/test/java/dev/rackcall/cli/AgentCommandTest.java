package dev.rackcall.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.rackcall.cp.HostId;
import dev.rackcall.cp.Tenant;
import dev.rackcall.cp.VirtualQueue;
import dev.rackcall.cp.client.AgentFolder;
import dev.rackcall.shm.os.OsException;
import dev.rackcall.shm.os.socket.UnixSocket;
import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.ChildJvm;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

class AgentCommandTest {
    private static final long BOUND_NANOS = 100_000_000_000L;
    private static final String GID = "fd72:6b00:0001:0002:0003:0004:7f00:0001";

    @TempDir
    private Path folder;

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    private int run(String... arguments) {
        CommandLine command = RackcallCommand.commandLine();
        command.setOut(new PrintWriter(out));
        command.setErr(new PrintWriter(err));
        return command.execute(arguments);
    }

    private int serve(Path dir, String seconds, String... more) {
        List<String> arguments = new ArrayList<>(List.of(
                "agent",
                "--host",
                "h",
                "--device",
                "soft:agent-test",
                "--with-meta",
                "4",
                "--dir",
                dir.toString(),
                "--for",
                seconds));
        arguments.addAll(List.of(more));
        return run(arguments.toArray(String[]::new));
    }

    @Test
    void shouldServeForTheGivenTime() {
        Path dir = folder.resolve("d");
        assertThat(serve(dir, "0.1")).as("%s", err).isZero();
        assertThat(out.toString())
                .contains("meta server: ", "control address: ", "serves in " + dir, "ends with 0 tenants, ");
        assertThat(AgentFolder.isServed(dir)).isFalse();
    }

    /** Its device lets any process in that reaches it, also from other users of this host. */
    @Test
    void shouldWarnOfADeviceWithoutTls() {
        assertThat(serve(folder.resolve("d"), "0.1", "--listen", "127.0.0.4"))
                .as("%s", err)
                .isZero();
        assertThat(out.toString())
                .contains(
                        "without --tls: any user of this host can register hosts, try keys and read this host's numbers;");
        assertThat(warning("--listen", "127.0.0.1")).contains("any user of this host");
        assertThat(warning("--listen", "10.0.0.1")).contains("any host that reaches 10.0.0.1 can");
        assertThat(warning("--listen", "10.0.0.1", "--tls", folder + "")).isEmpty();
        assertThat(warning("--listen", "127.0.0.1", "--tls", folder + "")).isEmpty();
        assertThat(warning()).as("it tells no numbers").isEmpty();
    }

    private static String warning(String... options) {
        @CommandLine.Command
        final class Agent {
            @CommandLine.Mixin
            private AgentDevice device = new AgentDevice();
        }
        Agent agent = new Agent();
        new CommandLine(agent).parseArgs(options);
        return agent.device.warning().orElse("");
    }

    @Test
    void shouldServeTenantsAndBeTheOnlyAgentOfItsFolder() throws Exception {
        Path dir = folder.resolve("d");
        // Longer than any test; what ends it is the interruption.
        Thread agent = Thread.ofPlatform().start(() -> serve(dir, "600"));
        try {
            awaitServing(agent);
            try (Tenant tenant = AgentFolder.join(dir, "t");
                    VirtualQueue toItself = tenant.connect(HostId.named("h"))) {
                assertThat(toItself.failure()).isEmpty();
            }
            assertThat(run("agent", "--host", "i", "--device", "soft:other", "--dir", dir.toString()))
                    .isEqualTo(1);
            assertThat(err.toString()).contains("another agent works for");
        } finally {
            agent.interrupt();
        }
        assertThat(agent.join(Duration.ofNanos(BOUND_NANOS))).isTrue();
        assertThat(AgentFolder.isServed(dir)).isFalse();
    }

    /** What a directory names would otherwise stand for its whole lease, and hold up the next meta server. */
    @Test
    void shouldWithdrawTheNameOfItsMetaServerWhenTerminated() throws Exception {
        Path members = folder.resolve("members");
        ChildJvm child = ChildJvm.of(
                        RackcallCommand.class,
                        "agent",
                        "--host",
                        "h",
                        "--with-meta",
                        "4",
                        "--directory",
                        members.toUri(),
                        "--dir",
                        folder.resolve("d"))
                .start();
        try (child) {
            Await.until("the agent to serve", () -> child.output().contains("serves in"));
            assertThat(members).isNotEmptyDirectory();
            child.terminate();
            child.awaitEnd();
            assertThat(child.output()).contains("ends with 0 tenants");
        }
        // One that was halted first leaves its entries to others to remove.
        assertThat(members).doesNotExist();
    }

    /** Hosts boot in any order. */
    @Test
    void shouldStartBeforeItsDirectoryAnswers() throws Exception {
        // No folder can be made there.
        Path inTheWay = Files.createFile(folder.resolve("file"));
        String directory = inTheWay.resolve("members").toUri().toString();
        Thread agent = Thread.ofPlatform()
                .start(() -> run(
                        "agent",
                        "--host",
                        "i",
                        "--device",
                        "soft:agent-late",
                        "--directory",
                        directory,
                        "--dir",
                        folder.resolve("e").toString()));
        Thread meta = Thread.ofPlatform().start(() -> serve(folder.resolve("d"), "600", "--directory", directory));
        try {
            await(agent, "not registered yet: the directory " + directory + " does not answer");
            await(meta, "the meta server is not named in the directory yet: the directory " + directory);
            Files.delete(inTheWay);
            await(meta, "the directory names the meta server");
            await(agent, System.lineSeparator() + "registered");
        } finally {
            agent.interrupt();
            meta.interrupt();
        }
        assertThat(agent.join(Duration.ofNanos(BOUND_NANOS))).isTrue();
        assertThat(meta.join(Duration.ofNanos(BOUND_NANOS))).isTrue();
    }

    private void awaitServing(Thread agent) {
        await(agent, "serves in");
    }

    private void await(Thread agent, String text) {
        for (long start = System.nanoTime(); !out.toString().contains(text); Thread.yield()) {
            assertThat(agent.isAlive() && System.nanoTime() - start < BOUND_NANOS)
                    .as("'%s' in '%s'; %s", text, out, err)
                    .isTrue();
        }
    }

    @Test
    void shouldHoldSealsToo() throws Exception {
        Path socket = folder.resolve("seals");
        Thread agent = Thread.ofPlatform().start(() -> serve(folder.resolve("d"), "600", "--hold-seals", socket + ""));
        try {
            awaitServing(agent);
            assertThat(out.toString()).contains("holding seals at " + socket);
            try (UnixSocket asked = UnixSocket.connect(socket)) {
                assertThat(asked.peer().pid())
                        .isEqualTo((int) ProcessHandle.current().pid());
            }
            assertThat(serve(folder.resolve("e"), "600", "--hold-seals", socket.toString()))
                    .isEqualTo(2);
            assertThat(err.toString()).contains("cannot serve at " + socket + ": another process serves there already");
        } finally {
            agent.interrupt();
        }
        assertThat(agent.join(Duration.ofNanos(BOUND_NANOS))).isTrue();
        assertThatThrownBy(() -> UnixSocket.connect(socket)).isInstanceOf(OsException.class);
    }

    @Test
    void shouldSayWhatIsWrong() {
        assertThat(run("agent")).isEqualTo(2);
        assertThat(run("agent", "--host", "h", "--meta", "x/1", "--with-meta", "3", "--dir", folder.toString()))
                .isEqualTo(2);
        assertThat(err.toString()).contains("rackcall: give --meta or --with-meta: one meta server is enough");
        assertThat(run("agent", "--host", "h", "--meta", GID + "/1", "--directory", "file:///x", "--dir", folder + ""))
                .isEqualTo(2);
        assertThat(err.toString()).contains("rackcall: give --meta or --directory: a directory says itself");
        assertThat(run(
                        "agent",
                        "--host",
                        "h",
                        "--with-meta",
                        "3",
                        "--directory",
                        "zk://nowhere:1",
                        "--dir",
                        folder + ""))
                .isEqualTo(2);
        assertThat(err.toString()).contains("rackcall: --with-meta: this software device listens at 127.0.0.1, and");
        assertThat(run("agent", "--host", "", "--dir", folder.toString())).isEqualTo(2);
        assertThat(err.toString()).contains("rackcall: --host is empty");
        for (String never : new String[] {"-1", "0", "NaN"}) {
            assertThat(run("agent", "--host", "h", "--for", never, "--dir", folder.toString()))
                    .as(never)
                    .isEqualTo(2);
        }
        assertThat(err.toString()).contains("rackcall: --for -1.0: give a number of seconds above 0");
        assertThat(run("agent", "--host", "h", "--with-meta", "0", "--dir", folder.toString()))
                .isEqualTo(2);
        assertThat(run("agent", "--host", "h", "--meta", "nonsense", "--dir", folder.toString()))
                .isEqualTo(2);
        assertThat(err.toString()).contains("rackcall: --meta: not a control address: 'nonsense'");
        String dir = folder.toString();
        assertThat(run("agent", "--host", "h", "--report", "0", "--dir", dir)).isEqualTo(2);
        assertThat(err.toString()).contains("rackcall: --report 0.0: give a number of seconds above 0");
        assertThat(run("agent", "--host", "h", "--device", "mlx5_0", "--listen", "10.0.0.1", "--dir", dir))
                .isEqualTo(2);
        assertThat(err.toString()).contains("--listen and --tls are for software devices, and mlx5_0 is none");
        assertThat(run("agent", "--host", "h", "--listen", "host-a", "--dir", dir))
                .isEqualTo(2);
        assertThat(err.toString()).contains("rackcall: --listen host-a is no address; give one of this host");
        assertThat(run("agent", "--host", "h", "--listen", "0.0.0.0", "--dir", dir))
                .isEqualTo(2);
        assertThat(err.toString()).contains("rackcall: --listen 0.0.0.0: agents on other hosts use this address");
        assertThat(run("agent", "--host", "h", "--tls", dir, "--dir", dir)).isEqualTo(2);
        assertThat(err.toString()).contains("rackcall: --tls: " + folder.resolve("certificates.pem"));
        assertThat(folder).isEmptyDirectory();
    }
}
