package dev.rackcall.perf.report;

import dev.rackcall.perf.result.BenchTarget;
import dev.rackcall.perf.result.Figures;
import dev.rackcall.perf.result.Result;
import java.awt.Color;
import java.awt.Font;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.stream.Collectors;
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

    static {
        System.setProperty("java.awt.headless", "true");
    }

    private Charts() {}

    /** The section's chart as an element of the page. */
    static String svg(ReportSection section) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        List<Result> results = section.results();
        IChart chart = section.target() == BenchTarget.RTT ? latency(results) : throughput(results);
        ChartEncoder.saveChart(chart, bytes, "svg");
        String document = bytes.toString(StandardCharsets.UTF_8);
        String name = section.target().word();
        return document.substring(document.indexOf("<svg"))
                // Letters are outlines with fourteen digits; a hundredth of a pixel is enough.
                .replaceAll("(\\d\\.\\d{2})\\d+", "$1")
                // Several charts share one page, so their names must differ.
                .replace("\"clip", "\"" + name + "-clip")
                .replace("url(#clip", "url(#" + name + "-clip");
    }

    /** Three percentiles for each name, on a logarithmic axis. */
    private static IChart latency(List<Result> results) {
        CategoryChart chart = new CategoryChartBuilder()
                .title("Latency of a call")
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

    /** Calls a second over calls in flight, one line for each name, both axes logarithmic. */
    private static IChart throughput(List<Result> results) {
        XYChart chart = new XYChartBuilder()
                .title("Throughput from one client thread")
                .xAxisTitle("calls in flight (logarithmic)")
                .yAxisTitle("calls/s (logarithmic)")
                .width(960)
                .height(520)
                .build();
        chart.getStyler().setXAxisLogarithmic(true);
        chart.getStyler().setYAxisTickLabelsFormattingFunction(Figures::rate);
        results.stream()
                .collect(Collectors.groupingBy(Result::name, LinkedHashMap::new, Collectors.toList()))
                .forEach((name, line) -> chart.addSeries(name, figures(line, "in_flight"), figures(line, "ops_per_s")));
        style(chart.getStyler(), figures(results, "ops_per_s"), figures(results, "ops_per_s"));
        return chart;
    }

    private static List<Double> figures(List<Result> results, String key) {
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
