package dev.rackcall.tracing;

import dev.rackcall.rpc.Metadata;
import io.opentelemetry.context.propagation.TextMapGetter;
import java.util.Locale;

/** Reads a context from a call's headers. */
enum HeaderGetter implements TextMapGetter<Metadata> {
    INSTANCE;

    @Override
    @SuppressWarnings("deprecation") // the interface still demands it
    public Iterable<String> keys(Metadata headers) {
        return headers.keys();
    }

    @Override
    public String get(Metadata headers, String key) {
        return headers == null
                ? null
                : headers.text(key.toLowerCase(Locale.ROOT)).orElse(null);
    }
}
