package dev.rackcall.cli.view;

import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;

/** An answer to a browser. Its headers forbid the page to load anything from elsewhere, or to be shown inside another. */
@SuppressWarnings("ArrayRecordComponent") // nothing compares or changes answers
record PageAnswer(int status, Map<String, String> headers, byte[] body) {
    private static final Map<String, String> COMMON = Map.of(
            "Content-Security-Policy",
            "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none'",
            "X-Content-Type-Options",
            "nosniff",
            "Referrer-Policy",
            "no-referrer",
            "Cross-Origin-Resource-Policy",
            "same-origin",
            "Cache-Control",
            "no-store");

    private static PageAnswer of(int status, String type, byte[] body) {
        return new PageAnswer(status, COMMON, body).with("Content-Type", type);
    }

    static PageAnswer file(String type, byte[] content) {
        return of(200, type, content);
    }

    static PageAnswer json(byte[] content) {
        return of(200, "application/json", content);
    }

    static PageAnswer text(String content) {
        return of(200, "text/plain; charset=utf-8", content.getBytes(StandardCharsets.UTF_8));
    }

    /** What is wrong with the request. */
    static PageAnswer refusal(int status, String why) {
        return of(status, "text/plain; charset=utf-8", (why + "\n").getBytes(StandardCharsets.UTF_8));
    }

    PageAnswer with(String header, String value) {
        Map<String, String> more = new LinkedHashMap<>(headers);
        more.put(header, value);
        return new PageAnswer(status, more, body);
    }
}
