package dev.rackcall.perf.report;

import dev.rackcall.perf.result.BenchTarget;
import dev.rackcall.perf.result.Figures;
import dev.rackcall.perf.result.Result;
import java.awt.Color;
import java.awt.Font;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import org.knowm.xchart.CategoryChart;
import org.knowm.xchart.CategoryChartBuilder;
import org.knowm.xchart.CategorySeries;
import org.knowm.xchart.ChartEncoder;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYChartBuilder;
import org.knowm.xchart.internal.chartpart.IChart;
import org.knowm.xchart.style.AxesChartStyler;
import org.knowm.xchart.style.Styler;

/** The charts of the HTML report as SVG. They need no display, but a font that Java finds. */
final class Charts {
    private static final Font TEXT = new Font(Font.SANS_SERIF, Font.PLAIN, 12);
    /** Names of lock contests: kind, locality, locks, perhaps threads. */
    private static final Pattern CONTEST = Pattern.compile("(.+?)-\\d+-(\\d+)(-\\d+)?");

    private static final String RATE = "ops_per_s";
    private static final String MEDIAN = "p50_ns";
    /** A horizontal axis of less than this ratio is not logarithmic. */
    private static final double LEAST_RATIO = 4;

    static {
        System.setProperty("java.awt.headless", "true");
    }

    /** A chart of the page, not yet drawn. */
    sealed interface Plot {
        String title();
    }

    /** Three percentiles for each name. */
    private record Percentiles(String title, List<Result> results) implements Plot {}

    /**
     * A line for each subject over a number.
     *
     * @param figure what it shows, operations a second or a percentile
     * @param points the results by the number, by the line's name
     */
    private record Lines(String title, String xTitle, String figure, Map<String, Map<Double, Result>> points)
            implements Plot {}

    private Charts() {}

    /** The charts of a section: none where a table tells all. */
    static List<Plot> of(ReportSection section) {
        List<Result> results = section.results();
        List<Plot> plots = new ArrayList<>();
        switch (section.target()) {
            case RTT -> plots.add(new Percentiles("Latency of a call", results));
            case THROUGHPUT ->
                plots.add(lines(
                        "Throughput from one client thread",
                        "calls in flight",
                        RATE,
                        results,
                        Result::name,
                        result -> result.figure("in_flight").orElseThrow()));
            case CROWD ->
                plots.add(numbered(
                        "Calls a second of all clients (RR-Compound: 1 to 128 clients)",
                        "client processes",
                        RATE,
                        results));
            case RARE -> plots.add(numbered("Median latency of a rare call", "ms between calls", MEDIAN, results));
            case SOCIAL -> {
                plots.add(load("Median latency of a request", MEDIAN, results));
                plots.add(load("99th percentile of a request's latency", "p99_ns", results));
            }
            case ISOLATION ->
                plots.add(numbered(
                        "Median latency by size (RPCool: seals and copies of 1 to 1,024 pages)",
                        "pages",
                        MEDIAN,
                        results));
            case ALOCK -> {
                plots.add(contests(
                        "Locks by threads, 95 % local (ALock, figure 5)",
                        "threads of each of 3 nodes",
                        results,
                        "threads_per_node",
                        result -> result.figure("locality").orElseThrow() == 95));
                plots.add(contests(
                        "Locks by locality, 2 threads a node (ALock, figure 5)",
                        "per cent of keys on the thread's node",
                        results,
                        "locality",
                        result -> result.figure("threads_per_node").orElseThrow() == 2));
            }
            case CONNECT, START, METRICS, VERBS, RDMA, GRPC, ELASTIC ->
                plots.add(new Percentiles(
                        section.target() == BenchTarget.START
                                ? "Time to the first reply"
                                : "Latency: " + section.target().word(),
                        results));
            default -> {
                // Its figures have several units.
            }
        }
        plots.removeIf(plot -> plot instanceof Lines lines && lines.points.isEmpty());
        return plots;
    }

    /** One line for each kind of lock and size of table. Single verbs are no locks. */
    private static Plot contests(
            String title, String xTitle, List<Result> results, String x, Predicate<Result> isWanted) {
        List<Result> wanted = results.stream()
                .filter(result -> !result.name().startsWith("verb")
                        && CONTEST.matcher(result.name()).matches())
                .filter(isWanted)
                .toList();
        return lines(
                title,
                xTitle,
                RATE,
                wanted,
                result -> CONTEST.matcher(result.name()).replaceFirst("$1, $2 locks"),
                result -> result.figure(x).orElseThrow());
    }

    /** Results whose names end with the number. */
    private static Plot numbered(String title, String xTitle, String figure, List<Result> results) {
        List<Result> numbered = results.stream()
                .filter(result -> result.name().matches(".*-[0-9.]+"))
                .toList();
        return lines(
                title,
                xTitle,
                figure,
                numbered,
                result -> result.name().substring(0, result.name().lastIndexOf('-')),
                result ->
                        Double.parseDouble(result.name().substring(result.name().lastIndexOf('-') + 1)));
    }

    /** One line for each transport. */
    private static Plot load(String title, String figure, List<Result> results) {
        return lines(
                title,
                "requests/s offered",
                figure,
                results,
                result -> result.name().split("-", -1)[1],
                result -> result.figure("offered_per_s").orElseThrow());
    }

    private static Plot lines(
            String title,
            String xTitle,
            String figure,
            List<Result> results,
            Function<Result, String> line,
            Function<Result, Double> x) {
        Map<String, Map<Double, Result>> points = new LinkedHashMap<>();
        results.forEach(result ->
                points.computeIfAbsent(line.apply(result), _ -> new TreeMap<>()).put(x.apply(result), result));
        points.values().removeIf(each -> each.size() < 2);
        return new Lines(title, xTitle, figure, points);
    }

    /** The chart as an element of the page. */
    static String svg(Plot plot) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        IChart chart = switch (plot) {
            case Percentiles percentiles -> draw(percentiles);
            case Lines lines -> draw(lines);
        };
        ChartEncoder.saveChart(chart, bytes, "svg");
        String document = bytes.toString(StandardCharsets.UTF_8);
        // Several charts share one page, so their names must differ.
        String clip = plot.title().replaceAll("[^A-Za-z]+", "-").toLowerCase(Locale.ROOT) + "-clip";
        return document.substring(document.indexOf("<svg"))
                // Letters are outlines with fourteen digits; a hundredth of a pixel is enough.
                .replaceAll("(\\d\\.\\d{2})\\d+", "$1")
                .replace("\"clip", "\"" + clip)
                .replace("url(#clip", "url(#" + clip);
    }

    private static IChart draw(Percentiles plot) {
        List<Result> results = plot.results;
        CategoryChart chart = new CategoryChartBuilder()
                .title(plot.title)
                .yAxisTitle("latency (logarithmic)")
                .width(960)
                .height(520)
                .build();
        chart.getStyler().setDefaultSeriesRenderStyle(CategorySeries.CategorySeriesRenderStyle.Scatter);
        chart.getStyler().setXAxisLabelRotation(45);
        chart.getStyler().setXAxisMaxLabelCount(Math.max(2, results.size())); // XChart refuses 1
        chart.getStyler().setYAxisTickLabelsFormattingFunction(Figures::time);
        List<String> names = results.stream().map(Result::name).toList();
        chart.addSeries("p50", names, figures(results, "p50_ns"));
        chart.addSeries("p99", names, figures(results, "p99_ns"));
        chart.addSeries("p99.9", names, figures(results, "p999_ns"));
        style(chart.getStyler(), figures(results, "p50_ns"), figures(results, "p999_ns"));
        return chart;
    }

    private static IChart draw(Lines plot) {
        List<Double> xs = plot.points.values().stream()
                .flatMap(line -> line.keySet().stream())
                .toList();
        boolean isRate = plot.figure.equals(RATE);
        boolean isWide = Collections.min(xs) > 0 && Collections.max(xs) / Collections.min(xs) >= LEAST_RATIO;
        XYChart chart = new XYChartBuilder()
                .title(plot.title)
                .xAxisTitle(plot.xTitle + (isWide ? " (logarithmic)" : ""))
                .yAxisTitle((isRate ? "a second" : "latency") + " (logarithmic)")
                .width(960)
                .height(520)
                .build();
        chart.getStyler().setXAxisLogarithmic(isWide);
        chart.getStyler().setYAxisTickLabelsFormattingFunction(isRate ? Figures::rate : Figures::time);
        plot.points.forEach(
                (name, line) -> chart.addSeries(name, List.copyOf(line.keySet()), figures(line.values(), plot.figure)));
        List<Double> all = plot.points.values().stream()
                .flatMap(line -> figures(line.values(), plot.figure).stream())
                .toList();
        style(chart.getStyler(), all, all);
        return chart;
    }

    private static List<Double> figures(Collection<Result> results, String key) {
        return results.stream()
                .map(result -> Math.max(1, result.figure(key).orElseThrow()))
                .toList();
    }

    /** The vertical axis has whole decades around the values: a logarithmic axis has no zero to start from. */
    private static void style(AxesChartStyler styler, List<Double> least, List<Double> most) {
        styler.setYAxisLogarithmic(true);
        styler.setYAxisMin(Math.pow(10, Math.floor(Math.log10(Collections.min(least)))));
        styler.setYAxisMax(Math.pow(10, Math.ceil(Math.log10(Collections.max(most)))));
        styler.setChartBackgroundColor(Color.WHITE);
        styler.setPlotBackgroundColor(Color.WHITE);
        styler.setPlotGridLinesColor(new Color(0xe3, 0xe3, 0xe3));
        styler.setPlotBorderVisible(false);
        styler.setLegendBorderColor(Color.WHITE);
        styler.setLegendPosition(Styler.LegendPosition.OutsideE);
        styler.setLegendFont(TEXT);
        styler.setAxisTickLabelsFont(TEXT);
        styler.setAxisTitleFont(TEXT);
        styler.setChartTitleFont(TEXT.deriveFont(Font.BOLD, 15f));
        styler.setMarkerSize(9);
    }
}
