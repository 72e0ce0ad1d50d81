package dev.rackcall.cli.view;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.rackcall.cli.top.HostilePages;
import dev.rackcall.cli.top.TopGrpcChild;
import dev.rackcall.cli.top.TopReport;
import dev.rackcall.cli.top.TopWatch;
import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.ChildJvm;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The page in a real browser, with real processes to look at. */
@Timeout(600)
class ViewPageTest {
    /** What a hostile process would like the page to run. */
    private static final String ATTACK = "<img src=x onerror=\"window.attacked=1\">";

    @TempDir
    private Path runtime;

    @TempDir
    private Path profile;

    private Optional<RackReport> rack = Optional.empty();
    private List<RackView.OtherHost> others = List.of();
    private volatile Supplier<List<RackView.OtherHost>> otherHosts = () -> others;
    private ViewSampler sampler;
    private ViewServer server;
    private Chromium browser;

    @BeforeEach
    void open() throws IOException, InterruptedException {
        Optional<Path> program = Chromium.program();
        assumeTrue(program.isPresent(), "NOT TESTED: chromium is not installed");
        sampler = ViewSampler.ofThisHost(new ViewHistory("here", "", _ -> Optional.empty()));
        server = ViewServer.start(
                0,
                sampler,
                new FakeRack(() -> rack, () -> otherHosts.get()),
                edge -> "explained " + edge.row().channel());
        browser = Chromium.start(program.get(), profile);
        browser.look(1600, 1000, "light");
    }

    @AfterEach
    void close() throws InterruptedException {
        if (browser != null) {
            browser.close();
        }
        if (server != null) {
            server.close();
        }
        if (sampler != null) {
            sampler.close();
        }
    }

    private ChildJvm start(String name, Object... arguments) throws InterruptedException {
        ChildJvm child = ShopProcess.named(name, ShopProcess.class, arguments)
                .directory(runtime)
                .start();
        child.awaitLine("ready");
        return child;
    }

    /** An expression for the table's row of the channel; another test may have its own. */
    private static String row(String channel) {
        return "[...document.querySelectorAll('#connections tbody tr')].find(row =>"
                + " row.querySelector('td.channel').textContent === '" + channel + "')";
    }

    private static String cell(String channel, String column) {
        return row(channel) + "?.querySelector('td." + column + "').textContent";
    }

    /** A selector of the process's box in the graph. */
    private static String box(ChildJvm process) {
        return "#graph .node[aria-label*=\"pid " + process.pid() + ",\"]";
    }

    private static String quoted(String text) {
        return "'" + text + "'";
    }

    /** Shows the page, and in its table only the rows of this test: another one may run beside it. */
    private void show() {
        browser.open(server.address());
        browser.await("document.querySelector('#filter')");
        browser.evaluate("(box => { box.value = '" + own("") + "'; box.dispatchEvent(new Event('input')); })"
                + "(document.querySelector('#filter'))");
    }

    private static String own(String name) {
        return "/view" + ProcessHandle.current().pid() + "/" + name;
    }

    private void assertQuiet() {
        assertThat(browser.complaints()).isEmpty();
        assertThat(browser.requests())
                .isNotEmpty()
                .allMatch(address -> address.equals("about:blank")
                        || address.startsWith(server.address().toString()));
    }

    /** Only the graph and long texts may scroll. */
    private void assertFits(int width) {
        // The wide table scrolls in its panel; narrow pages have cards in its place.
        assertThat(browser.outside(width, "#graph svg, .output" + (width > 720 ? ", #connections" : "")))
                .as("what sticks out at " + width + " pixels")
                .isEqualTo("[]");
    }

    @Test
    void shouldShowNumbersThatMoveAndAServerThatDies() throws Exception {
        String channel = own("cart");
        try (ChildJvm cart = start("cart-server", channel);
                ChildJvm front = start("shop-front", "-", channel + "=500")) {
            show();
            browser.await(row(channel));
            assertThat(browser.text(cell(channel, "ends")))
                    .isEqualTo("shop-front " + front.pid() + " → cart-server " + cart.pid());
            assertThat(browser.text(cell(channel, "state"))).isEqualTo("open");

            browser.evaluate(row(channel) + ".click()");
            browser.await("document.querySelector('#details h2')?.textContent === '" + channel + "'");
            String requests = "[...document.querySelectorAll('#details .facts div')].find(each =>"
                    + " each.firstChild.textContent === 'Requests').lastChild.textContent";
            String first = browser.text(requests);
            assertThat(first).endsWith(" since it began");
            Await.until(
                    "the number of requests to move",
                    () -> !browser.text(requests).equals(first));
            browser.await("[...document.querySelectorAll('#details .facts div')].some(each =>"
                    + " each.textContent.match(/^Arenasrequests .* of .*, replies .* of /))");
            browser.await("parseFloat(" + cell(channel, "rate") + ") > 0");
            browser.await("document.querySelectorAll('#details canvas').length === 4");
            browser.await("[...document.querySelectorAll('#details figcaption')].some(each =>"
                    + " each.textContent.match(/^Median, 99th percentile[0-9.]+ .s, [0-9.]+ .s$/))");
            browser.await("document.querySelector('#graph .edge.selected[aria-label^=\"" + channel + ",\"]')");
            browser.await(row(channel) + ".querySelector('.spark .line').getAttribute('d').includes('L')");

            browser.evaluate("document.querySelector('#details button.explain').click()");
            browser.await("document.querySelector('#details .output').textContent === 'explained " + channel + "'");

            for (int width : List.of(1600, 1366, 800, 400)) {
                for (String colours : List.of("dark", "light")) {
                    browser.look(width, 1000, colours);
                    browser.await("matchMedia('(prefers-color-scheme: " + colours + ")').matches");
                    browser.await("document.querySelector('#graph svg').clientWidth > 0"
                            + " && document.querySelectorAll('#graph .node').length >= 2");
                    assertFits(width);
                    assertThat(brightness("getComputedStyle(document.body).backgroundColor") < 0.5)
                            .isEqualTo(colours.equals("dark"));
                    assertThat(Math.abs(brightness("getComputedStyle(document.body).backgroundColor")
                                    - brightness("getComputedStyle(document.body).color")))
                            .as("contrast, " + colours)
                            .isGreaterThan(0.6);
                }
            }

            // The page notes when it shows the death, so that this test's own slowness does not count.
            browser.evaluate("window.red = 0; { const look = () => "
                    + row(channel) + "?.classList.contains('bad') && document.querySelector('" + box(cart) + ".bad')"
                    + " && document.querySelector('#graph .edge.bad[aria-label^=\"" + channel + ",\"]')"
                    + " ? window.red = Date.now() : setTimeout(look, 10); look(); } 0");
            assertThat(browser.is("window.red"))
                    .as("red while the server lives")
                    .isFalse();
            long killed = System.currentTimeMillis();
            cart.kill();
            browser.await("window.red");
            long red = browser.evaluate("window.red").asLong();
            System.out.printf("ViewPageTest: the server's death was red after %d ms%n", red - killed);
            assertThat(browser.text(cell(channel, "state"))).isEqualTo("server gone");
            assertThat(browser.text("document.querySelector('" + box(cart) + "').getAttribute('aria-label')"))
                    .contains("cart-server", "dead");
            assertThat(browser.is("document.querySelector('#live.live')"))
                    .as("the page itself lives")
                    .isTrue();
            assertQuiet();
        }
    }

    @Test
    void shouldShowAGrpcConnection() throws Exception {
        String channel = own("grpc");
        try (ChildJvm server = ChildJvm.start(TopGrpcChild.class, runtime, "serve", channel)) {
            server.awaitLine("serving");
            try (ChildJvm client = ChildJvm.start(TopGrpcChild.class, runtime, "call", "rackcall://" + channel)) {
                client.awaitLine("calling");
                show();
                browser.await(row(channel));
                browser.await("parseFloat(" + cell(channel, "rate") + ") > 0");
                browser.evaluate(row(channel) + ".click()");
                browser.await("document.querySelector('#details h2')?.textContent === '" + channel + "'");
                String facts =
                        "[...document.querySelectorAll('#details .facts div')].map(each => each.textContent).join()";
                browser.await(facts + ".includes('gRPC over this host')");
                String nothing = browser.text("import(location.href + 'format.js').then(it => it.NOTHING)");
                assertThat(browser.text(facts)).contains("Slots" + nothing, "Arenas" + nothing, "polling" + nothing);
                assertThat(browser.is("document.querySelector('#details .explain')"))
                        .as("a command that knows no gRPC servers")
                        .isFalse();
                assertQuiet();
            }
        }
    }

    /** From 0, black, to 1, white. */
    private double brightness(String colour) {
        String[] parts = browser.text(colour).replaceAll("[^0-9,.]", "").split(",");
        return (0.3 * Double.parseDouble(parts[0])
                        + 0.59 * Double.parseDouble(parts[1])
                        + 0.11 * Double.parseDouble(parts[2]))
                / 255;
    }

    @Test
    void shouldShowHostileNamesAndMemoryAsText() throws Exception {
        String channel = own(ATTACK.replace("/", ""));
        try (ChildJvm hostile = hostile(channel)) {
            show();
            browser.await("document.querySelectorAll('#connections tbody tr.bad').length === 5");
            assertThat(browser.text(
                            "[...document.querySelectorAll('td.channel')].map(each => each.textContent).join()"))
                    .contains(ATTACK);
            assertThat(
                            browser.text(
                                    "[...document.querySelectorAll('tr.invalid .reason')].map(each => each.textContent).join()"))
                    .contains(
                            "it begins as no memory of Rackcall's does",
                            "it has layout version",
                            "it is no gRPC connection's of this release",
                            "it counts 0 calls begun and 1 ended",
                            "it lies outside its pool");
            browser.evaluate("document.querySelector('#connections tbody tr.bad').click()");
            browser.await("document.querySelector('#details .reason').textContent.includes('makes no sense')");
            assertThat(browser.is("document.querySelector('#details .explain')"))
                    .as("a command for a name that is no channel's")
                    .isFalse();
            browser.evaluate(
                    "document.querySelector('" + box(hostile) + ".bad').dispatchEvent(new MouseEvent('click'))");
            browser.await("document.querySelector('#details h2').textContent.includes('<img src=x')");
            assertFits(1600);
            browser.look(400, 800, "dark");
            assertFits(400);
            assertThat(browser.text("import(location.href + 'format.js').then(it => it.name('a\\u202eb\\u0007'))"))
                    .as("characters that disguise names")
                    .isEqualTo("a\ufffdb\ufffd");
            assertThat(browser.is("window.attacked || document.querySelector('main img')"))
                    .isFalse();
            assertThat(hostile.isAlive()).isTrue();
            assertQuiet();
        }
    }

    private ChildJvm hostile(String channel) throws InterruptedException {
        ChildJvm child =
                ShopProcess.named(ATTACK, HostilePages.class, 1, channel).start();
        child.awaitLine("there");
        return child;
    }

    @Test
    void shouldSayThatThereIsNothingAndThatTheServerIsGone() throws Exception {
        show();
        browser.await("document.querySelector('#live.live')");
        server.close();
        browser.await("document.querySelector('#problem').textContent.includes('does not answer')");
        browser.await("document.querySelector('#live.late')");
    }

    @Test
    void shouldShowTheServersOfOtherHosts() {
        ViewHistory history = new ViewHistory(ATTACK, "", _ -> Optional.empty());
        TopReport.ConnectionRow row = Rows.connection(7, own(ATTACK), 1, 2);
        TopReport report = new TopReport(List.of(new TopReport.ProcessRow(1, ATTACK, 1, 0, 1, 0, 1)), List.of(row), 0);
        others = List.of(
                new RackView.OtherHost("a-1", history.add(1, 2, 3, report, _ -> true), false),
                new RackView.OtherHost(
                        "b-1", new ViewHistory("b", "", _ -> Optional.empty()).failed(1, 2, ATTACK), false));
        rack = Optional.of(new RackReport(
                Optional.empty(),
                List.of(
                        // It has no agent, so it is a node and no frame.
                        new RackReport.RackServer(ATTACK + "!", false, "/shop/cart", "a", List.of("POOL", "RDMA"), 3),
                        new RackReport.RackServer("here", true, "/shop/cart", "b", List.of(), 0)),
                0,
                List.of(),
                3));
        show();
        browser.await("document.querySelectorAll('#rack tbody tr').length === 2");
        assertThat(browser.text("document.querySelector('#rack tbody tr').textContent"))
                .isEqualTo(ATTACK + "!/shop/cartshared memory, RDMA3");
        browser.await("[...document.querySelectorAll('#graph .node.elsewhere')].some(each =>"
                + " each.getAttribute('aria-label').startsWith('host <img'))");
        browser.await("document.querySelector('#graph .frame .host')?.textContent === 'host ' + " + quoted(ATTACK));
        browser.await("document.querySelector('#hosts tr.bad')?.textContent === 'bno answer' + " + quoted(ATTACK));
        browser.await("document.querySelector('#connections tbody td.ends')?.textContent.startsWith('? 2 on <img')");
        browser.await("document.querySelector('#rack-note').textContent.endsWith("
                + "' Left out, because there are too many: 3 hosts whose agents are not asked.')");
        browser.look(400, 900, "light");
        assertFits(400);
        assertThat(browser.evaluate("Math.min(...[...document.querySelectorAll('#hosts tbody td')].map(each =>"
                                + " each.getBoundingClientRect().width))")
                        .asDouble())
                .as("the narrowest cell of the table of hosts, in pixels")
                .isGreaterThan(80);
        assertThat(browser.is("window.attacked || document.querySelector('main img')"))
                .isFalse();
        assertQuiet();
    }

    @Test
    void shouldTellHowManyHostsTheGraphLeavesOut() {
        rack = Optional.of(RackReport.of(
                IntStream.range(0, 14)
                        .mapToObj(each -> new RackReport.RackServer("h" + each, false, "/a", "s" + each, List.of(), 0))
                        .toList(),
                List.of()));
        show();
        browser.await("document.querySelectorAll('#graph .node.elsewhere').length === 12");
        browser.await("document.querySelector('#rack-note').textContent.endsWith("
                + "' Left out, because there are too many: 2 hosts that the graph does not show.')");
        assertQuiet();
    }

    @Test
    void shouldMoveThisHostsNumbersWhileThoseOfOtherHostsAreSlow() throws Exception {
        ViewHistory history = new ViewHistory("a", "", _ -> Optional.empty());
        ViewState told = history.add(1, 2, 3, Rows.report(Rows.connection(7, own("cart"), 1, 2)), _ -> true);
        others = List.of(new RackView.OtherHost("a-1", told, false));
        rack = Optional.of(RackReport.of(List.of(), List.of()));
        show();
        browser.await("document.querySelector('#hosts tbody tr')?.textContent === 'alive211,000'");
        CountDownLatch slow = new CountDownLatch(1);
        otherHosts = () -> {
            try {
                slow.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            return others;
        };
        try {
            // A page that waited for other hosts would ask for them between any two of this host's seconds.
            Await.until(
                    "two seconds of this host while a question for others is open",
                    () -> browser.requests().stream()
                            .map(address -> address.replaceFirst(".*/", "").replaceFirst("\\?.*", ""))
                            .filter(List.of("state", "hosts")::contains)
                            .collect(Collectors.joining(" "))
                            .endsWith("hosts state state"));
            browser.await("document.querySelector('#hosts tbody tr').textContent === 'aold21–'");
            assertThat(browser.is("document.querySelector('#problem').hidden")).isTrue();
        } finally {
            slow.countDown();
        }
        browser.await("document.querySelector('#hosts tbody tr').textContent === 'alive211,000'");
    }

    @Test
    void shouldCutLongNamesOfHosts() {
        String host = "rack17-shelf3-" + "node".repeat(40) + ".example.com";
        TopReport report = Rows.report(Rows.connection(7, own("cart"), 1, 1));
        others = List.of(new RackView.OtherHost(
                "a-1",
                new ViewHistory(host, " --host " + host, _ -> Optional.empty()).add(1, 2, 3, report, _ -> true),
                false));
        rack = Optional.of(RackReport.of(
                List.of(
                        new RackReport.RackServer(host, false, own("cart"), "a", List.of("TCP"), 3),
                        new RackReport.RackServer(host + "2", false, own("cart"), "b", List.of("TCP"), 3)),
                List.of()));
        show();
        browser.await("document.querySelector('#hosts tbody tr')?.textContent.startsWith('rack17')");
        browser.await(row(own("cart")));
        browser.evaluate(row(own("cart")) + ".click()");
        for (int width : List.of(1600, 400)) {
            browser.look(width, 900, "light");
            assertFits(width);
            browser.await("(frame => frame && frame.querySelector('.host').getBBox().width"
                    + " <= frame.querySelector('rect').getBBox().width - 12)(document.querySelector('#graph .frame'))");
            browser.await("document.querySelector('#graph svg').getBoundingClientRect().width <= " + width);
        }
        assertQuiet();
    }

    /** What was told before the page was closed is not live when it is opened again. */
    @Test
    void shouldShowOldNumbersOfAnotherHostAsOld() {
        ViewHistory history = new ViewHistory("a", "", _ -> Optional.empty());
        TopReport report = Rows.report(Rows.connection(7, own("cart"), 1, 2));
        others = List.of(new RackView.OtherHost("a-1", history.add(1, 2, 3, report, _ -> true), true));
        rack = Optional.of(RackReport.of(List.of(), List.of()));
        show();
        String host = "document.querySelector('#hosts tbody tr')?.textContent";
        String states = "[...document.querySelectorAll('#connections td.state, #connections td.rate')].map(each =>"
                + " each.textContent).join()";
        browser.await(host + " === 'aold21–'");
        browser.await(states + " === 'old,0'");
        browser.look(400, 900, "light");
        browser.await("document.querySelector('#graph text.channel')?.textContent === 'old'");
        browser.look(1600, 1000, "light");
        browser.await("document.querySelector('#graph .frame .host')?.textContent === 'host a: old'");
        assertThat(browser.is("document.querySelector('#hosts tr.bad, #graph .frame.bad')"))
                .isFalse();
        others = List.of(new RackView.OtherHost("a-1", history.add(2, 3, 4, report, _ -> true), false));
        browser.await(host + " === 'alive211,000'");
        browser.await(states + " === 'open,1,000'");
        browser.await("document.querySelector('#graph .frame .host').textContent === 'host a'");
        assertQuiet();
    }

    @Test
    void shouldShowTheNumbersOfOtherHosts(@TempDir Path folder) throws Exception {
        String channel = own("stock");
        try (PlayedRack rack = new PlayedRack(folder)) {
            PlayedRack.Host a = rack.host("a");
            PlayedRack.Host b = rack.host("b");
            ChildJvm stock = b.run("stock-server", channel + "@soft://127.0.0.1:0");
            String address = stock.awaitLine("soft:");
            stock.awaitLine("ready");
            ChildJvm front = a.run("shop-front", "-", channel + "@" + address + "=200");
            front.awaitLine("ready");
            server.close();
            sampler.close();
            // This host has no process.
            sampler = ViewSampler.of(
                    () -> TopWatch.of(rack.processesHere()), new ViewHistory("here", "", _ -> Optional.empty()));
            RackHosts hosts =
                    new RackHosts(agent -> AgentWatch.follow(agent, " --host " + agent.host()), Duration.ofHours(1));
            try (RackWatch watch = RackWatch.start(rack.directory(), "here", hosts)) {
                server = ViewServer.start(0, sampler, watch, _ -> "");
                show();
                browser.await(
                        "[...document.querySelectorAll('#graph .frame .host')].map(each => each.textContent).join()"
                                + " === 'host a,host b'");
                String ends = "shop-front " + front.pid() + " on a → stock-server " + stock.pid() + " on b";
                browser.await(
                        "[...document.querySelectorAll('#connections tbody td.ends')].map(each => each.textContent)"
                                + ".join() === '" + ends + "," + ends + "'");
                browser.await(
                        "[...document.querySelectorAll('#graph .edge')].map(each => each.getAttribute('aria-label'))"
                                + ".join().match(/^[^,]*, [0-9.]+\\/s.* in flight · TCP$/)");
                String requests = "[...document.querySelectorAll('#details .facts div')].find(each =>"
                        + " each.firstChild.textContent === 'Requests')?.lastChild.textContent";
                browser.evaluate(row(channel) + ".click()");
                browser.await(requests);
                browser.evaluate("window.first = " + requests);
                browser.await(requests + " !== window.first");
                browser.await("document.querySelectorAll('#details canvas').length === 4");
                browser.await("document.querySelector('#details code')?.textContent.match("
                        + "/^.\\/rackcall explain \\/view[0-9]+\\/stock --host [ab]$/)");
                assertThat(browser.is("document.querySelector('#details .explain')"))
                        .as("explained from here")
                        .isFalse();
                for (int width : List.of(1600, 400)) {
                    browser.look(width, 1000, "dark");
                    browser.await("document.querySelectorAll('#graph .frame .host').length === 2");
                    assertFits(width);
                }
                browser.look(1600, 1000, "light");

                String red = "[...document.querySelectorAll('#hosts tr.bad')].find(each =>"
                        + " each.textContent.startsWith('ano answer'))";
                browser.evaluate("window.red = 0; { const look = () => " + red
                        + " && document.querySelector('#graph .frame.bad .host')?.textContent === 'host a: no answer'"
                        + " ? window.red = Date.now() : setTimeout(look, 10); look(); } 0");
                long killed = System.currentTimeMillis();
                a.agent().kill();
                browser.await("window.red");
                System.out.printf(
                        "ViewPageTest: the agent's death was red after %d ms%n",
                        browser.evaluate("window.red").asLong() - killed);
                browser.await("[...document.querySelectorAll('#graph .frame.bad .host')].map(each => each.textContent)"
                        + ".join() === 'host a: no answer'");
                browser.await(
                        "[...document.querySelectorAll('#graph .edge')].map(each => each.getAttribute('aria-label'))"
                                + ".join().match(/^[^,]*, [0-9.]+\\/s.* in flight · TCP$/)");
                // What a has told last stays; b has news.
                String states = "[...document.querySelectorAll('#connections tbody td.state')].map(each =>"
                        + " each.textContent).sort().join()";
                browser.await(states + " === 'no news,open'");
                browser.evaluate("window.red = 0; { const look = () => " + states + " === 'no news,server gone'"
                        + " ? window.red = Date.now() : setTimeout(look, 10); look(); } 0");
                killed = System.currentTimeMillis();
                stock.kill();
                browser.await("window.red");
                System.out.printf(
                        "ViewPageTest: the death of another host's server was red after %d ms%n",
                        browser.evaluate("window.red").asLong() - killed);
                assertQuiet();
            }
        }
    }

    @Test
    void shouldTellThatACallGoesOverTcp() throws Exception {
        String channel = own("far");
        try (ChildJvm far = ShopProcess.named("far-server", ShopProcess.class, channel + "@soft://127.0.0.1:0")
                .directory(runtime)
                .start()) {
            String address = far.awaitLine("soft:");
            far.awaitLine("ready");
            try (ChildJvm near = start("near-client", "-", channel + "@" + address + "=200")) {
                show();
                // Each end has memory of its own: one curve comes from another host, the other one leads there.
                browser.await("[...document.querySelectorAll('#graph .node.elsewhere')].filter(each =>"
                        + " each.getAttribute('aria-label').startsWith('another host, over TCP')).length === 2");
                browser.await("[...document.querySelectorAll('#graph .edge[aria-label^=\"" + channel
                        + ",\"]')].some(each =>" + " each.getAttribute('aria-label').endsWith('in flight · TCP'))");
                browser.evaluate(row(channel) + ".click()");
                browser.await("[...document.querySelectorAll('#details .facts div')].some(each =>"
                        + " each.textContent === 'TransportTCP: the other end has memory of its own')");
                assertThat(near.isAlive()).isTrue();
                assertQuiet();
            }
        }
    }

    @Test
    void shouldKeepItsHistoryOverAReload() throws Exception {
        String channel = own("stock");
        try (ChildJvm stock = start("stock-server", channel);
                ChildJvm front = start("shop-front", "-", channel + "=200")) {
            show();
            // How many points the line of the row has when it is first drawn.
            String points = "new Promise(resolve => { const look = () => { const line = " + row(channel)
                    + "?.querySelector('.spark .line').getAttribute('d');"
                    + " line ? resolve(line.split('L').length) : setTimeout(look, 20); }; look(); })";
            Await.until(
                    "a few seconds of history", () -> browser.evaluate(points).asInt() > 4);
            browser.evaluate("window.old = true");
            show();
            browser.await("!window.old");
            assertThat(browser.evaluate(points).asInt()).isGreaterThan(4);
            assertThat(stock.isAlive() && front.isAlive()).isTrue();
        }
    }
}
