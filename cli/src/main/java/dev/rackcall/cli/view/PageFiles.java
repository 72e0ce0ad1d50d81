package dev.rackcall.cli.view;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;

/** The files of the page: resources beside this class, and the library that draws its charts. Immutable. */
final class PageFiles {
    private static final String HTML = "text/html; charset=utf-8";
    private static final String CSS = "text/css; charset=utf-8";
    private static final String SCRIPT = "text/javascript; charset=utf-8";
    private static final String CHARTS = "uplot";

    private final Map<String, PageAnswer> files;

    private PageFiles(Map<String, PageAnswer> files) {
        this.files = Map.copyOf(files);
    }

    static PageFiles load() {
        String charts = "/META-INF/resources/webjars/" + CHARTS + "/" + version(CHARTS) + "/dist/";
        Map<String, PageAnswer> files = new HashMap<>();
        files.put("", PageAnswer.file(HTML, bytes("index.html")));
        files.put("view.css", PageAnswer.file(CSS, bytes("view.css")));
        for (String script : new String[] {"view.js", "graph.js", "charts.js", "format.js"}) {
            files.put(script, PageAnswer.file(SCRIPT, bytes(script)));
        }
        files.put("icon.svg", PageAnswer.file("image/svg+xml", bytes("icon.svg")));
        files.put("uplot.css", PageAnswer.file(CSS, bytes(charts + "uPlot.min.css")));
        files.put("uplot.js", PageAnswer.file(SCRIPT, bytes(charts + "uPlot.esm.js")));
        return new PageFiles(files);
    }

    /** The file with that name; the empty name is the page. */
    Optional<PageAnswer> find(String name) {
        return Optional.ofNullable(files.get(name));
    }

    /** A webjar's version is part of its paths. */
    private static String version(String webjar) {
        String path = "/META-INF/maven/org.webjars.npm/" + webjar + "/pom.properties";
        try (InputStream in = open(path)) {
            Properties properties = new Properties();
            properties.load(in);
            return properties.getProperty("version");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static byte[] bytes(String path) {
        try (InputStream in = open(path)) {
            return in.readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static InputStream open(String path) throws IOException {
        InputStream in = PageFiles.class.getResourceAsStream(path);
        if (in == null) {
            throw new IOException("there is no " + path + " on the class path; build the command again");
        }
        return in;
    }
}
