package dev.rackcall.cli.view;

import dev.rackcall.testkit.Await;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * A browser without a window, driven by the DevTools protocol, with one page. It notes what the page complains of and
 * which addresses it asks for. For one thread.
 */
public final class Chromium implements AutoCloseable {
    private static final List<String> PROGRAMS = List.of("chromium", "chromium-browser", "google-chrome");
    private static final JsonMapper JSON = JsonMapper.builder().build();

    private final Process process;
    private final HttpClient http = HttpClient.newHttpClient();
    private final Map<Integer, CompletableFuture<JsonNode>> pending = new ConcurrentHashMap<>();
    /** Guarded by themselves. */
    private final List<String> complaints = new ArrayList<>();

    private final List<String> requests = new ArrayList<>();
    private WebSocket socket;
    private Optional<String> session = Optional.empty();
    private int lastId;

    private Chromium(Process process) {
        this.process = process;
    }

    /** The program; empty if this machine has none. */
    public static Optional<Path> program() {
        return Stream.of(System.getenv("PATH").split(":"))
                .flatMap(folder -> PROGRAMS.stream().map(name -> Path.of(folder, name)))
                .filter(Files::isExecutable)
                .findFirst();
    }

    /** Starts it with an empty page. */
    public static Chromium start(Path program, Path profile) throws IOException, InterruptedException {
        ProcessBuilder builder = new ProcessBuilder(
                        program.toString(),
                        "--headless=new",
                        "--no-sandbox",
                        "--disable-gpu",
                        "--disable-dev-shm-usage",
                        "--disable-background-networking",
                        "--disable-component-update",
                        "--no-first-run",
                        "--hide-scrollbars",
                        "--remote-debugging-port=0",
                        "--user-data-dir=" + profile,
                        "about:blank")
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .redirectError(profile.resolve("chromium.log").toFile());
        // A killed browser leaves files there.
        builder.environment().put("TMPDIR", profile.toString());
        Chromium browser = new Chromium(builder.start());
        browser.connect(profile);
        return browser;
    }

    private void connect(Path profile) throws IOException {
        Path address = profile.resolve("DevToolsActivePort");
        Await.until(
                "the browser to listen",
                () -> !process.isAlive() || lines(address).size() == 2);
        List<String> lines = lines(address);
        if (lines.size() != 2) {
            throw new AssertionError("the browser ended: " + Files.readString(profile.resolve("chromium.log")));
        }
        socket = http.newWebSocketBuilder()
                .buildAsync(URI.create("ws://127.0.0.1:" + lines.getFirst() + lines.getLast()), new Listener())
                .join();
        String target = send("Target.createTarget", Map.of("url", "about:blank"))
                .get("targetId")
                .asString();
        session = Optional.of(send("Target.attachToTarget", Map.of("targetId", target, "flatten", true))
                .get("sessionId")
                .asString());
        for (String domain : List.of("Page", "Runtime", "Log", "Network")) {
            send(domain + ".enable", Map.of());
        }
    }

    private static List<String> lines(Path file) {
        try {
            return Files.readAllLines(file);
        } catch (IOException e) {
            return List.of();
        }
    }

    private JsonNode send(String method, Map<String, ?> parameters) {
        int id = ++lastId;
        CompletableFuture<JsonNode> answer = new CompletableFuture<>();
        pending.put(id, answer);
        Map<String, Object> message = new HashMap<>(Map.of("id", id, "method", method, "params", parameters));
        session.ifPresent(each -> message.put("sessionId", each));
        socket.sendText(JSON.writeValueAsString(message), true).join();
        JsonNode result =
                answer.orTimeout(Await.BOUND.toSeconds(), TimeUnit.SECONDS).join();
        if (result.has("error")) {
            throw new AssertionError(method + ": " + result.get("error"));
        }
        return result.get("result");
    }

    /** How wide the window is, and which colours its user prefers. */
    public void look(int width, int height, String colours) {
        send(
                "Emulation.setDeviceMetricsOverride",
                Map.of("width", width, "height", height, "deviceScaleFactor", 1, "mobile", false));
        send(
                "Emulation.setEmulatedMedia",
                Map.of("features", List.of(Map.of("name", "prefers-color-scheme", "value", colours))));
    }

    public void open(URI address) {
        send("Page.navigate", Map.of("url", address.toString()));
    }

    /** The value of an expression in the page, which may be a promise. */
    public JsonNode evaluate(String expression) {
        JsonNode result =
                send("Runtime.evaluate", Map.of("expression", expression, "returnByValue", true, "awaitPromise", true));
        if (result.has("exceptionDetails")) {
            throw new AssertionError(expression + ": " + result.get("exceptionDetails"));
        }
        return result.get("result").path("value");
    }

    String text(String expression) {
        return evaluate(expression).asString();
    }

    public boolean is(String expression) {
        return evaluate("Boolean(" + expression + ")").asBoolean();
    }

    /** Waits until the expression is true of the page. */
    public void await(String expression) {
        Await.until(expression, () -> is(expression));
    }

    /** Writes what the window shows as a PNG. */
    public void shoot(Path file) throws IOException {
        String data = send("Page.captureScreenshot", Map.of("format", "png"))
                .get("data")
                .asString();
        Files.write(file, Base64.getDecoder().decode(data));
    }

    /**
     * What sticks out on the right of a window of this width. It must fit: only these elements may scroll, inside of
     * themselves.
     *
     * @param scrolls a selector
     */
    public String outside(int width, String scrolls) {
        await("document.documentElement.scrollWidth <= " + width);
        return evaluate("[...document.querySelectorAll('body *')].filter(each =>"
                        + " !each.closest('" + scrolls + "') && each.getBoundingClientRect().right > " + width
                        + " + 1).map(each => each.tagName + '.' + each.className)")
                .toString();
    }

    /** Errors and warnings of the page up to now. */
    public List<String> complaints() {
        synchronized (complaints) {
            return List.copyOf(complaints);
        }
    }

    /** The addresses that the page has asked for. */
    public List<String> requests() {
        synchronized (requests) {
            return List.copyOf(requests);
        }
    }

    private void receive(JsonNode message) {
        if (message.has("id")) {
            Optional.ofNullable(pending.remove(message.get("id").asInt())).ifPresent(each -> each.complete(message));
            return;
        }
        JsonNode parameters = message.path("params");
        switch (message.path("method").asString()) {
            case "Runtime.exceptionThrown", "Log.entryAdded" -> complain(parameters);
            case "Runtime.consoleAPICalled" -> {
                if (!parameters.path("type").asString().equals("log")) {
                    complain(parameters);
                }
            }
            case "Network.requestWillBeSent" -> {
                synchronized (requests) {
                    requests.add(parameters.path("request").path("url").asString());
                }
            }
            default -> {
                // Of no interest.
            }
        }
    }

    private void complain(JsonNode parameters) {
        synchronized (complaints) {
            complaints.add(parameters.toString());
        }
    }

    @Override
    public void close() {
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly();
        http.shutdownNow();
        try {
            // It writes to its profile until it is gone.
            process.waitFor(10, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Puts messages together. */
    private final class Listener implements WebSocket.Listener {
        private final StringBuilder text = new StringBuilder();

        @Override
        public CompletionStage<?> onText(WebSocket from, CharSequence data, boolean isLast) {
            text.append(data);
            if (isLast) {
                receive(JSON.readTree(text.toString()));
                text.setLength(0);
            }
            from.request(1);
            return null;
        }
    }
}
