package dev.rackcall.cli.view;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Function;
import java.util.regex.Pattern;
import tools.jackson.databind.json.JsonMapper;

/**
 * Serves the page and its numbers on the loopback. Every user of this host can connect there, and so can pages of other
 * sites that a browser shows. Therefore the address contains a secret, and a request must name this host as such: a name
 * that a foreign site has rebound to the loopback is refused. Thread-safe.
 */
final class ViewServer implements AutoCloseable {
    private static final byte[] LOOPBACK = {127, 0, 0, 1};
    private static final int TOKEN_BYTES = 16;
    /** A forwarded port may have another number. */
    private static final Pattern OWN_HOST = Pattern.compile("(127\\.0\\.0\\.1|localhost)(:[0-9]{1,5})?");

    private static final Pattern NUMBER = Pattern.compile("after=([0-9]{1,18})");
    private static final Pattern CONNECTION = Pattern.compile("connection=(" + HostStates.ID + ")");
    private static final String GET = "GET";
    private static final String POST = "POST";
    private static final JsonMapper JSON = JsonMapper.builder().build();
    private static final SecureRandom RANDOM = new SecureRandom();

    private final HttpServer http;
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private final String token;
    private final PageFiles files = PageFiles.load();
    private final ViewSampler sampler;
    private final RackView rack;
    private final Function<ViewState.ConnectionEdge, String> explain;
    /** Names {@link #lastTold}. Guarded by the monitor. */
    private long version;
    /** Of other hosts: their keys, sequences, and whether they are old. Guarded by the monitor. */
    private List<List<Object>> lastTold = List.of();

    private ViewServer(
            HttpServer http, ViewSampler sampler, RackView rack, Function<ViewState.ConnectionEdge, String> explain) {
        this.http = http;
        this.sampler = sampler;
        this.rack = rack;
        this.explain = explain;
        byte[] random = new byte[TOKEN_BYTES];
        RANDOM.nextBytes(random);
        this.token = HexFormat.of().formatHex(random);
    }

    /**
     * Limits what clients without the secret can use up. The JDK's server reads these properties when it is first used.
     */
    static void limitClients() {
        System.setProperty("jdk.httpserver.maxConnections", "100");
        System.setProperty("sun.net.httpserver.maxReqTime", "10");
        System.setProperty("sun.net.httpserver.maxReqHeaders", "64");
    }

    /**
     * Starts to serve.
     *
     * @param port 0 for any
     * @param explain gives the explanation of a connection's route
     */
    static ViewServer start(
            int port, ViewSampler sampler, RackView rack, Function<ViewState.ConnectionEdge, String> explain)
            throws IOException {
        HttpServer http;
        try {
            http = HttpServer.create(new InetSocketAddress(InetAddress.getByAddress(LOOPBACK), port), 0);
        } catch (BindException e) {
            throw new IOException(
                    "cannot serve at port " + port + " of 127.0.0.1: " + e.getMessage() + "; give another --port", e);
        }
        ViewServer server = new ViewServer(http, sampler, rack, explain);
        http.createContext("/", server::handle);
        http.setExecutor(server.threads);
        http.start();
        return server;
    }

    /** The address of the page, with the secret. */
    URI address() {
        return URI.create("http://127.0.0.1:" + http.getAddress().getPort() + "/" + token + "/");
    }

    private void handle(HttpExchange exchange) throws IOException {
        try (exchange) {
            send(exchange, answer(exchange));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private PageAnswer answer(HttpExchange exchange) throws InterruptedException {
        List<String> hosts = exchange.getRequestHeaders().getOrDefault("Host", List.of());
        if (hosts.size() != 1 || !OWN_HOST.matcher(hosts.getFirst()).matches()) {
            return PageAnswer.refusal(403, "This page answers to 127.0.0.1 and localhost only.");
        }
        String path = exchange.getRequestURI().getRawPath();
        Optional<String> name = afterToken(path);
        if (name.isEmpty()) {
            return PageAnswer.refusal(403, "Open the address that rackcall view has printed.");
        }
        boolean explains = name.get().equals("explain");
        String allowed = explains ? POST : GET;
        if (!exchange.getRequestMethod().equals(allowed)) {
            return PageAnswer.refusal(405, "Only " + allowed + " is allowed here.")
                    .with("Allow", allowed);
        }
        String query =
                Optional.ofNullable(exchange.getRequestURI().getRawQuery()).orElse("");
        return switch (name.get()) {
            case "state" -> state(query);
            case "history" -> PageAnswer.json(JSON.writeValueAsBytes(sampler.series()));
            case "rack" -> PageAnswer.json(JSON.writeValueAsBytes(rack.report()));
            case "hosts" -> hosts(query);
            case "hosts-history" -> PageAnswer.json(JSON.writeValueAsBytes(rack.series()));
            case "explain" -> explanation(query);
            default -> files.find(name.get()).orElseGet(() -> PageAnswer.refusal(404, "There is no such page."));
        };
    }

    /** What follows the secret in the path; empty if that is not there. */
    private Optional<String> afterToken(String path) {
        byte[] expected = ("/" + token + "/").getBytes(StandardCharsets.UTF_8);
        int end = Math.min(path.length(), expected.length);
        byte[] given = path.substring(0, end).getBytes(StandardCharsets.UTF_8);
        return MessageDigest.isEqual(expected, given) ? Optional.of(path.substring(end)) : Optional.empty();
    }

    private PageAnswer state(String query) throws InterruptedException {
        var after = NUMBER.matcher(query);
        if (!after.matches()) {
            return PageAnswer.refusal(400, "Ask for state?after=N.");
        }
        return PageAnswer.json(JSON.writeValueAsBytes(sampler.awaitAfter(Long.parseLong(after.group(1)))));
    }

    /** The numbers of other hosts; {@code null} if the page already has them. */
    private PageAnswer hosts(String query) {
        List<RackView.OtherHost> hosts = rack.hosts();
        String version = String.valueOf(versionOf(hosts));
        Optional<List<RackView.OtherHost>> news = Optional.of(hosts).filter(_ -> !query.equals("after=" + version));
        return PageAnswer.json(JSON.writeValueAsBytes(news)).with("Version", version);
    }

    private synchronized long versionOf(List<RackView.OtherHost> hosts) {
        List<List<Object>> told = hosts.stream()
                .map(host -> List.<Object>of(host.key(), host.state().sequence(), host.isOld()))
                .toList();
        if (!told.equals(lastTold)) {
            lastTold = told;
            version++;
        }
        return version;
    }

    private PageAnswer explanation(String query) {
        var connection = CONNECTION.matcher(query);
        if (!connection.matches()) {
            return PageAnswer.refusal(400, "Ask for explain?connection=ID.");
        }
        return sampler.explainable(connection.group(1))
                .map(edge -> PageAnswer.text(explain.apply(edge)))
                .orElseGet(() -> PageAnswer.refusal(404, "There is no such connection any more."));
    }

    private static void send(HttpExchange exchange, PageAnswer answer) throws IOException {
        answer.headers().forEach(exchange.getResponseHeaders()::set);
        if (exchange.getRequestMethod().equals("HEAD")) {
            // A length would announce a body.
            exchange.sendResponseHeaders(answer.status(), -1);
            return;
        }
        exchange.sendResponseHeaders(answer.status(), answer.body().length);
        exchange.getResponseBody().write(answer.body());
    }

    /** Stops to serve. */
    @Override
    public void close() {
        http.stop(0);
        threads.shutdownNow();
    }
}
