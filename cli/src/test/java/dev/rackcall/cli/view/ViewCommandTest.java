package dev.rackcall.cli.view;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.cli.RackcallCommand;
import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.ChildJvm;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The command {@code rackcall view}, as a user runs it. */
@Timeout(300)
class ViewCommandTest {
    @TempDir
    private Path runtime;

    private final HttpClient client = HttpClient.newHttpClient();

    private String ask(String method, String address) {
        HttpRequest request = HttpRequest.newBuilder(URI.create(address))
                .method(method, HttpRequest.BodyPublishers.noBody())
                .timeout(Duration.ofSeconds(90))
                .build();
        try {
            HttpResponse<String> answer = client.send(request, HttpResponse.BodyHandlers.ofString());
            assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
            return answer.body();
        } catch (IOException | InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private Optional<JsonNode> connection(String page, String channel) {
        JsonNode state = JsonMapper.builder().build().readTree(ask("GET", page + "state?after=0"));
        return StreamSupport.stream(state.get("connections").spliterator(), false)
                .filter(each -> each.get("row").get("channel").asString().equals(channel))
                .findFirst();
    }

    @Test
    void shouldServeWhatItSeesAndExplainARoute() throws Exception {
        requireExplanation("/command", runtime, "");
    }

    /** The page shows the processes of all runtime folders. */
    @Test
    void shouldExplainARouteInTheRuntimeFolderOfItsProcesses() throws Exception {
        requireExplanation("/elsewhere", runtime.resolve("view's"), " --dir " + runtime);
    }

    private void requireExplanation(String name, Path folderOfView, String options) throws Exception {
        String channel = "/view" + ProcessHandle.current().pid() + name;
        try (ChildJvm view = ChildJvm.of(RackcallCommand.class, "view")
                        .directory(folderOfView)
                        .start();
                ChildJvm server = ChildJvm.start(ShopProcess.class, runtime, channel)) {
            server.awaitLine("ready");
            String page = view.awaitLine("http://127.0.0.1:");
            try (ChildJvm calling = ChildJvm.start(ShopProcess.class, runtime, "-", channel + "=100")) {
                calling.awaitLine("ready");
                assertThat(ask("GET", page)).contains("<title>Rackcall</title>");
                Await.until(
                        "the connection to be seen",
                        () -> connection(page, channel).isPresent());
                JsonNode seen = connection(page, channel).orElseThrow();
                assertThat(seen.get("row").get("serverPid").asLong()).isEqualTo(server.pid());
                assertThat(seen.get("row").get("transport").asString()).isEqualTo("HOST");
                assertThat(seen.get("explain").asString()).isEqualTo("./rackcall explain " + channel + options);
                assertThat(ask(
                                "POST",
                                page + "explain?connection="
                                        + seen.get("row").get("id").asString()))
                        .contains(channel + " from ", "by the memory of this host.");
                assertThat(view.isAlive()).isTrue();
            }
        }
    }

    @Test
    void shouldRefusePortsAndDirectoriesThatCannotBe() {
        ChildJvm.Result port =
                ChildJvm.of(RackcallCommand.class, "view", "--port", "65536").run();
        assertThat(port.exitCode()).isEqualTo(2);
        assertThat(port.output()).contains("--port 65536: give a number from 0, for any port, to 65535");
        ChildJvm.Result directory = ChildJvm.of(RackcallCommand.class, "view", "--directory", "gopher://somewhere")
                .run();
        assertThat(directory.exitCode()).isEqualTo(1);
        assertThat(directory.output()).startsWith("rackcall: no store here understands the directory address");
    }
}
