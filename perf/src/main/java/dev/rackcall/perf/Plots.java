package dev.rackcall.perf;

import java.awt.Color;
import java.awt.Font;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToLongFunction;
import org.knowm.xchart.CategoryChart;
import org.knowm.xchart.CategoryChartBuilder;
import org.knowm.xchart.CategorySeries;
import org.knowm.xchart.ChartEncoder;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYChartBuilder;
import org.knowm.xchart.internal.chartpart.IChart;
import org.knowm.xchart.style.AxesChartStyler;
import org.knowm.xchart.style.Styler;

/** The plots of the report as SVG. Needs no display; needs a font that Java finds. */
final class Plots {
    private static final int WIDTH = 960;
    private static final int HEIGHT = 520;
    private static final Color GRID = new Color(0xe3, 0xe3, 0xe3);
    private static final Font TEXT = new Font(Font.SANS_SERIF, Font.PLAIN, 12);

    static {
        System.setProperty("java.awt.headless", "true");
    }

    private Plots() {}

    /** Three percentiles for each name, on a logarithmic axis. */
    static IChart latency(List<Result> results) {
        CategoryChart chart = new CategoryChartBuilder()
                .width(WIDTH)
                .height(HEIGHT)
                .title("Latency of a call")
                .yAxisTitle("latency (logarithmic)")
                .build();
        style(chart.getStyler());
        chart.getStyler().setDefaultSeriesRenderStyle(CategorySeries.CategorySeriesRenderStyle.Scatter);
        chart.getStyler().setXAxisLabelRotation(45);
        chart.getStyler().setXAxisMaxLabelCount(Math.max(2, results.size())); // XChart refuses 1
        chart.getStyler().setYAxisTickLabelsFormattingFunction(Figures::time);
        List<String> names = results.stream().map(Result::name).toList();
        List<Double> all = new ArrayList<>();
        for (Map.Entry<String, ToLongFunction<Result>> percentile :
                percentiles().entrySet()) {
            List<Double> nanos = results.stream()
                    .map(result -> (double) Math.max(1, percentile.getValue().applyAsLong(result)))
                    .toList();
            all.addAll(nanos);
            chart.addSeries(percentile.getKey(), names, nanos);
        }
        decades(chart.getStyler(), all);
        return chart;
    }

    /** Calls a second over calls in flight, one line for each name, both axes logarithmic. */
    static IChart throughput(List<Result> results) {
        XYChart chart = new XYChartBuilder()
                .width(WIDTH)
                .height(HEIGHT)
                .title("Throughput from one client thread")
                .xAxisTitle("calls in flight (logarithmic)")
                .yAxisTitle("calls/s (logarithmic)")
                .build();
        style(chart.getStyler());
        chart.getStyler().setXAxisLogarithmic(true);
        chart.getStyler().setYAxisTickLabelsFormattingFunction(Figures::rate);
        Map<String, List<Result>> byName = new LinkedHashMap<>();
        results.forEach(result ->
                byName.computeIfAbsent(result.name(), name -> new ArrayList<>()).add(result));
        byName.forEach((name, line) -> chart.addSeries(
                name,
                line.stream().mapToDouble(Result::inFlight).toArray(),
                line.stream()
                        .mapToDouble(result -> Math.max(1, result.opsPerS()))
                        .toArray()));
        decades(chart.getStyler(), results.stream().map(Result::opsPerS).toList());
        return chart;
    }

    private static Map<String, ToLongFunction<Result>> percentiles() {
        Map<String, ToLongFunction<Result>> percentiles = new LinkedHashMap<>();
        percentiles.put("p50", Result::p50Ns);
        percentiles.put("p99", Result::p99Ns);
        percentiles.put("p99.9", Result::p999Ns);
        return percentiles;
    }

    private static void style(AxesChartStyler styler) {
        styler.setYAxisLogarithmic(true);
        styler.setChartBackgroundColor(Color.WHITE);
        styler.setPlotBackgroundColor(Color.WHITE);
        styler.setPlotGridLinesColor(GRID);
        styler.setPlotBorderVisible(false);
        styler.setLegendBorderColor(Color.WHITE);
        styler.setLegendPosition(Styler.LegendPosition.OutsideE);
        styler.setLegendFont(TEXT);
        styler.setAxisTickLabelsFont(TEXT);
        styler.setAxisTitleFont(TEXT);
        styler.setChartTitleFont(TEXT.deriveFont(Font.BOLD, 15f));
        styler.setMarkerSize(9);
    }

    /** Whole decades around the values: a logarithmic axis has no zero to start from. */
    private static void decades(AxesChartStyler styler, List<Double> values) {
        double least = values.stream().mapToDouble(Double::doubleValue).min().orElse(1);
        double most = values.stream().mapToDouble(Double::doubleValue).max().orElse(10);
        styler.setYAxisMin(Math.pow(10, Math.floor(Math.log10(Math.max(1e-3, least)))));
        styler.setYAxisMax(Math.pow(10, Math.ceil(Math.log10(Math.max(1e-2, most)))));
    }

    /** A chart as an element for a page; {@code name} differs from those of the other charts on the page. */
    static String svg(IChart chart, String name) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        ChartEncoder.saveChart(chart, bytes, "svg");
        String document = bytes.toString(StandardCharsets.UTF_8);
        return document.substring(document.indexOf("<svg"))
                // Letters are outlines with fourteen digits; a hundredth of a pixel is enough.
                .replaceAll("(\\d\\.\\d{2})\\d+", "$1")
                // Several plots share one page, so their names must differ.
                .replace("\"clip", "\"" + name + "-clip")
                .replace("url(#clip", "url(#" + name + "-clip");
    }
}
