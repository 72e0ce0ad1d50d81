package dev.rackcall.cli.view;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Whom the server of the page answers, and what. */
class ViewServerTest {
    private static final String CHANNEL = "/shop/cart";
    private static final int ID = 7;

    private final FakeWatch watch = new FakeWatch();
    private final HttpClient client = HttpClient.newHttpClient();
    private Optional<RackReport> rack = Optional.empty();
    private List<RackView.OtherHost> others = List.of();
    private ViewSampler sampler;
    private ViewServer server;

    @BeforeEach
    void start() throws IOException {
        watch.report = Rows.report(Rows.connection(ID, CHANNEL, 1, 2), Rows.connection(ID + 1, "/a b;reboot", 1, 2));
        sampler = ViewSampler.start(
                new ViewHistory("here", "", _ -> Optional.empty()), () -> watch, ViewSampler.PATIENCE);
        server = ViewServer.start(
                0,
                sampler,
                new FakeRack(() -> rack, () -> others),
                edge -> "explained " + edge.row().channel());
    }

    @AfterEach
    void stop() throws InterruptedException {
        server.close();
        sampler.close();
        client.shutdownNow();
    }

    private HttpResponse<String> ask(String method, String path) throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(URI.create(server.address() + path))
                .method(method, HttpRequest.BodyPublishers.noBody())
                .timeout(Duration.ofSeconds(60))
                .build();
        return client.send(request, HttpResponse.BodyHandlers.ofString());
    }

    /** The status line and all that follows, for a request that no well-behaved client sends. */
    private String raw(String request) throws IOException {
        try (Socket socket =
                new Socket(server.address().getHost(), server.address().getPort())) {
            socket.setSoTimeout(60_000);
            socket.getOutputStream().write(request.getBytes(StandardCharsets.ISO_8859_1));
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    private String page() {
        return server.address().getRawPath();
    }

    @Test
    void shouldServeThePageAndAllItsFiles() throws Exception {
        HttpResponse<String> page = ask("GET", "");
        assertThat(page.statusCode()).isEqualTo(200);
        assertThat(page.headers().firstValue("Content-Security-Policy").orElseThrow())
                .startsWith("default-src 'self';")
                .doesNotContain("unsafe");
        assertThat(page.headers().firstValue("Referrer-Policy")).hasValue("no-referrer");
        for (String file : List.of("view.js", "graph.js", "charts.js", "format.js", "uplot.js")) {
            HttpResponse<String> answer = ask("GET", file);
            assertThat(answer.statusCode()).as(file).isEqualTo(200);
            assertThat(answer.headers().firstValue("Content-Type").orElseThrow())
                    .startsWith("text/javascript");
        }
        for (String file : List.of("view.css", "uplot.css", "icon.svg")) {
            assertThat(ask("GET", file).statusCode()).as(file).isEqualTo(200);
        }
    }

    @Test
    void shouldListenOnTheLoopbackOnly() throws Exception {
        assertThat(InetAddress.getByName(server.address().getHost()).isLoopbackAddress())
                .isTrue();
        assertThatThrownBy(() -> ViewServer.start(server.address().getPort(), sampler, () -> rack, _ -> ""))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("cannot serve at port " + server.address().getPort())
                .hasMessageContaining("give another --port");
    }

    @Test
    void shouldRefuseRequestsWithoutTheSecret() throws Exception {
        String right = page();
        char first = right.charAt(1);
        String wrong = "/" + (first == '0' ? '1' : '0') + right.substring(2);
        for (String path :
                List.of("/", "/state?after=0", wrong, wrong + "state?after=0", right.substring(0, 20), "//")) {
            assertThat(raw("GET " + path + " HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"))
                    .as(path)
                    .matches("(?s)HTTP/1.1 40[03] .*")
                    .doesNotContain(CHANNEL, "<html");
        }
    }

    /** A foreign site's name can be rebound to the loopback; the browser then names that site. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "Host: evil.example\r\n",
                "Host: 127.0.0.1.evil.example\r\n",
                "Host: localhost.evil.example:80\r\n",
                "Host: 127.0.0.1@evil.example\r\n",
                "Host: 127.0.0.1\r\nHost: evil.example\r\n",
                "Host:\r\n",
                ""
            })
    void shouldRefuseForeignHosts(String header) throws IOException {
        assertThat(raw("GET " + page() + " HTTP/1.1\r\n" + header + "Connection: close\r\n\r\n"))
                .matches("(?s)HTTP/1.1 40[03] .*")
                .doesNotContain("<html");
    }

    @Test
    void shouldAnswerToTheNamesOfTheLoopbackAtAnyPort() throws IOException {
        for (String host : List.of("127.0.0.1", "localhost", "localhost:1234", "127.0.0.1:9")) {
            assertThat(raw("GET " + page() + " HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n\r\n"))
                    .as(host)
                    .startsWith("HTTP/1.1 200 ");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"HEAD", "POST", "PUT", "DELETE", "OPTIONS", "TRACE"})
    void shouldRefuseOtherMethods(String method) throws Exception {
        HttpResponse<String> answer = ask(method, "state?after=0");
        assertThat(answer.statusCode()).isEqualTo(405);
        assertThat(answer.headers().firstValue("Allow")).hasValue("GET");
    }

    @Test
    void shouldNotKnowOtherPaths() throws Exception {
        for (String path :
                List.of("nothing", "view.js/", "../view.js", "%2e%2e/view.js", "ViewServer.class", "index.html")) {
            assertThat(ask("GET", path).statusCode()).as(path).isIn(403, 404);
        }
        for (String path : List.of(
                "state", "state?after=", "state?after=-1", "state?after=1&after=2", "state?after=" + "9".repeat(30))) {
            assertThat(ask("GET", path).statusCode()).as(path).isEqualTo(400);
        }
    }

    @Test
    void shouldGiveTheStateAndItsHistory() throws Exception {
        JsonNode state = json(ask("GET", "state?after=0"));
        assertThat(state.get("host").asString()).isEqualTo("here");
        assertThat(state.get("connections").get(0).get("row").get("channel").asString())
                .isEqualTo(CHANNEL);
        long sequence = state.get("sequence").asLong();
        assertThat(json(ask("GET", "state?after=" + sequence)).get("sequence").asLong())
                .isGreaterThan(sequence);
        JsonNode history = json(ask("GET", "history"));
        assertThat(history.get("times").size()).isGreaterThan(1);
        assertThat(history.get("connections")
                        .get(Rows.id(ID))
                        .get("rate")
                        .get(0)
                        .asDouble())
                .isEqualTo(Rows.RATE);
    }

    @Test
    void shouldExplainOnlyChannelsThatItShows() throws Exception {
        ask("GET", "state?after=0");
        assertThat(ask("POST", "explain?connection=" + Rows.id(ID)).body()).isEqualTo("explained " + CHANNEL);
        assertThat(ask("POST", "explain?connection=" + Rows.id(ID + 1)).statusCode())
                .as("a name that is no channel's")
                .isEqualTo(404);
        assertThat(ask("POST", "explain?connection=" + Rows.id(ID + 2)).statusCode())
                .isEqualTo(404);
        assertThat(ask("POST", "explain?connection=/shop/cart").statusCode()).isEqualTo(400);
        assertThat(ask("GET", "explain?connection=" + Rows.id(ID)).statusCode()).isEqualTo(405);
    }

    @Test
    void shouldTellWhatADirectoryNames() throws Exception {
        assertThat(json(ask("GET", "rack")).isNull()).as("without a directory").isTrue();
        rack = Optional.of(RackReport.of(
                List.of(new RackReport.RackServer("other", false, CHANNEL, "a", List.of("RDMA"), 3)), List.of()));
        assertThat(json(ask("GET", "rack")).get("servers").get(0).get("host").asString())
                .isEqualTo("other");
    }

    @Test
    void shouldTellWhatAgentsOfOtherHostsTell() throws Exception {
        assertThat(json(ask("GET", "hosts")).size()).isZero();
        others = List.of(new RackView.OtherHost(
                "a-1", new ViewHistory("a", "", _ -> Optional.empty()).failed(3, 4, "gone"), false));
        HttpResponse<String> answer = ask("GET", "hosts?after=");
        String version = answer.headers().firstValue("Version").orElseThrow();
        assertThat(json(ask("GET", "hosts?after=" + version)).isNull())
                .as("the same once more")
                .isTrue();
        JsonNode other = json(answer).get(0);
        assertThat(other.get("key").asString()).isEqualTo("a-1");
        assertThat(other.get("state").get("problem").asString()).isEqualTo("gone");
        others = List.of(new RackView.OtherHost("a-1", others.getFirst().state(), true));
        assertThat(json(ask("GET", "hosts?after=" + version))
                        .get(0)
                        .get("isOld")
                        .asBoolean())
                .isTrue();
        assertThat(json(ask("GET", "hosts-history")).get("a-1").get("times").size())
                .isZero();
    }

    private static JsonNode json(HttpResponse<String> answer) {
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
        assertThat(answer.headers().firstValue("Content-Type")).hasValue("application/json");
        return JsonMapper.builder().build().readTree(answer.body());
    }
}
