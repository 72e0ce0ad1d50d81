package dev.rackcall.samples;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.directory.ChannelName;
import dev.rackcall.directory.Directory;
import dev.rackcall.directory.Endpoint;
import dev.rackcall.samples.documents.DocumentStore;
import dev.rackcall.testkit.FreePort;
import java.io.FilterWriter;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.Writer;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.apache.curator.test.InstanceSpec;
import org.apache.curator.test.TestingCluster;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import picocli.CommandLine;

/** The rack demo, with real processes. */
@Timeout(180)
class RackDemoCommandTest {
    private static final int TICK_MILLIS = 500;
    private static final String TAKEN = "The memory of rack 1 is taken away from host-b.";

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();
    private Consumer<String> whenPrinted = _ -> {};

    @Test
    void shouldUseTheNetworkWithoutMemoryAndLeaveNothingBehind() throws IOException {
        List<String> before = workplaces();

        int exitCode = run("rack", "--count", "200", "--seconds", "1");

        assertThat(exitCode).as("%s%s", out, err).isZero();
        requireAllParts();
        assertThat(workplaces()).isEqualTo(before);
        assertThat(ProcessHandle.current().children().filter(ProcessHandle::isAlive))
                .isEmpty();
    }

    private void requireAllParts() {
        String text = out.toString();
        String taken = TAKEN;
        String back = "host-b has it back.";
        String first = text.substring(0, text.indexOf(taken));
        String second = text.substring(text.indexOf(taken), text.indexOf(back));
        String third = text.substring(text.indexOf(back));
        assertThat(first)
                .containsPattern("host-b +host-a +host memory")
                .containsPattern("host-c +host-a +virtual queues over TCP")
                .doesNotContainPattern("host-c +host-a +host memory");
        assertThat(second).containsPattern("host-b +host-a +virtual queues over TCP");
        assertThat(third).containsPattern("host-b +host-a +host memory").contains(" 0 failed. Nothing is left behind.");
    }

    @Test
    void shouldFindItsHostsWhenAnEnsembleLosesAMember() throws Exception {
        System.setProperty("zookeeper.forceSync", "no");
        List<InstanceSpec> specs = new ArrayList<>();
        for (int i = 1; i <= 3; i++) {
            // Curator's own choice may give a server the same port twice.
            specs.add(new InstanceSpec(
                    null, FreePort.find(), FreePort.find(), FreePort.find(), true, i, TICK_MILLIS, 200));
        }
        try (TestingCluster ensemble = new TestingCluster(specs)) {
            ensemble.start();
            URI members = URI.create("zk://" + ensemble.getConnectString() + "/demo");
            InstanceSpec lost = ensemble.getInstances().iterator().next();
            whenPrinted(TAKEN, () -> ensemble.killServer(lost));

            int exitCode = run("rack", "--count", "200", "--seconds", "1", "--directory", members.toString());

            assertThat(exitCode).as("%s%s", out, err).isZero();
            requireAllParts();

            try (Directory directory = Directory.open(members)) {
                ChannelName store = ChannelName.of(DocumentStore.CHANNEL);
                assertThat(directory.endpoints(store)).isEmpty();
                directory.announce(store, Endpoint.of("cart-1", "host-z", 4711));
                assertThat(run("rack", "--count", "10", "--directory", members.toString()))
                        .isEqualTo(1);
                assertThat(err.toString())
                        .contains("names servers of /samples/documents already: cart-1 on host-z")
                        .contains("a folder of its own");
            }
        }
    }

    /** Does something at the moment at which a line appears, before the demo goes on. */
    private void whenPrinted(String line, Callable<?> action) {
        whenPrinted = text -> {
            if (text.contains(line)) {
                whenPrinted = _ -> {};
                try {
                    action.call();
                } catch (Exception e) {
                    throw new AssertionError(e);
                }
            }
        };
    }

    @Test
    void shouldSayWhatIsWrongInASentence() {
        assertThat(run("rack", "--count", "0")).isEqualTo(2);
        assertThat(run("rack", "--directory", "etcd://nobody", "--count", "10")).isEqualTo(1);
        assertThat(err.toString())
                .contains("--count must be between 1 and 1000000, not 0")
                .contains("no store here understands the directory address etcd://nobody");
    }

    @Test
    void shouldReportAnUnreachableZooKeeper() {
        assertThat(run("rack", "--count", "10", "--directory", "zk://127.0.0.1:1/demo?timeout=1s"))
                .isEqualTo(1);
        assertThat(err.toString())
                .contains("the directory cannot be used: no ZooKeeper server of 127.0.0.1:1 has answered within")
                .contains("are they running, and is the address right?");
        assertThat(out.toString()).doesNotContain("host-b  ");
    }

    private int run(String... arguments) {
        return new CommandLine(new DemoCommand())
                .setOut(new PrintWriter(new Watched(out), true))
                .setErr(new PrintWriter(err, true))
                .execute(arguments);
    }

    private static List<String> workplaces() throws IOException {
        try (Stream<Path> files = Files.list(Path.of(System.getProperty("java.io.tmpdir")))) {
            return files.map(Path::toString)
                    .filter(name -> name.contains(
                            "rackcall-demo-" + ProcessHandle.current().pid() + "-"))
                    .sorted()
                    .toList();
        }
    }

    /** Shows all that is printed to {@link #whenPrinted}. */
    private final class Watched extends FilterWriter {
        Watched(Writer to) {
            super(to);
        }

        @Override
        public void write(String text, int from, int length) throws IOException {
            super.write(text, from, length);
            whenPrinted.accept(text.substring(from, from + length));
        }
    }
}
