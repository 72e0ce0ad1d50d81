package dev.rackcall.rpc;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * Key-value pairs that travel with a call: headers with the request, trailers with the response. Keys are lower-case
 * ASCII; a key ending in {@code -bin} holds bytes, any other holds text. Immutable, so that one instance may serve many
 * calls and threads.
 *
 * <p>Metadata is small: at most {@value #MAX_PAIRS} pairs, and {@value #MAX_BYTES} bytes of keys and values. Building a
 * larger one throws {@link IllegalArgumentException}.
 */
public final class Metadata {
    public static final Metadata EMPTY = new Metadata(Map.of());

    /** The suffix of keys whose values are bytes. */
    public static final String BINARY_SUFFIX = "-bin";

    /** Maximum number of pairs. */
    public static final int MAX_PAIRS = 128;

    /** Maximum size of all keys and values together, in bytes of UTF-8. */
    public static final int MAX_BYTES = 64 << 10;

    private static final int SHOWN_CHARS = 64;

    private static final Pattern KEY = Pattern.compile("[0-9a-z_.-]+");

    private final Map<String, byte[]> entries;

    private Metadata(Map<String, byte[]> entries) {
        this.entries = entries;
    }

    /** For several pairs at once. */
    public static Builder builder() {
        return new Builder();
    }

    public static Metadata of(String key, String value) {
        return EMPTY.with(key, value);
    }

    /** A copy with that pair added or replaced. */
    public Metadata with(String key, String value) {
        return with(builder().add(key, value).build());
    }

    /** A copy with that pair added or replaced; the key must end in {@code -bin}. */
    public Metadata with(String key, byte[] value) {
        return with(builder().add(key, value).build());
    }

    /** A copy with all pairs of {@code other} added; they replace pairs with the same key. */
    public Metadata with(Metadata other) {
        if (entries.isEmpty()) {
            return other;
        }
        if (other.isEmpty()) {
            return this;
        }
        Builder merged = new Builder();
        entries.forEach(merged::put);
        other.entries.forEach(merged::put);
        return merged.build();
    }

    public Optional<String> text(String key) {
        byte[] value = entries.get(key);
        return value == null || key.endsWith(BINARY_SUFFIX)
                ? Optional.empty()
                : Optional.of(new String(value, StandardCharsets.UTF_8));
    }

    public Optional<byte[]> bytes(String key) {
        byte[] value = entries.get(key);
        return value == null ? Optional.empty() : Optional.of(value.clone());
    }

    public List<String> keys() {
        return Collections.unmodifiableList(new ArrayList<>(entries.keySet()));
    }

    public boolean isEmpty() {
        return entries.isEmpty();
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder("Metadata{");
        for (Map.Entry<String, byte[]> entry : entries.entrySet()) {
            text.append(text.length() > 9 ? ", " : "").append(entry.getKey()).append('=');
            text.append(
                    entry.getKey().endsWith(BINARY_SUFFIX)
                            ? entry.getValue().length + " bytes"
                            : new String(entry.getValue(), StandardCharsets.UTF_8));
        }
        return text.append('}').toString();
    }

    /** Collects pairs. Used by one thread. */
    public static final class Builder {
        private final Map<String, byte[]> entries = new LinkedHashMap<>();
        private int bytes;

        private Builder() {}

        /**
         * Adds or replaces a pair of text.
         *
         * @throws IllegalArgumentException if the key is malformed or ends in {@code -bin}, or the metadata becomes too
         *     large
         */
        public Builder add(String key, String value) {
            if (key.endsWith(BINARY_SUFFIX)) {
                throw new IllegalArgumentException(
                        "metadata key " + key + " ends in -bin, so its value must be a byte[]");
            }
            put(key, value.getBytes(StandardCharsets.UTF_8));
            return this;
        }

        /**
         * Adds or replaces a pair of bytes, which are copied.
         *
         * @throws IllegalArgumentException if the key does not end in {@code -bin}, or the metadata becomes too large
         */
        public Builder add(String key, byte[] value) {
            if (!key.endsWith(BINARY_SUFFIX)) {
                throw new IllegalArgumentException(
                        "metadata key " + key + " has a byte[] value, so it must end in -bin");
            }
            put(key, value.clone());
            return this;
        }

        private void put(String key, byte[] value) {
            if (!KEY.matcher(key).matches()) {
                // A peer's key may have any length.
                String shown = key.length() <= SHOWN_CHARS ? key : key.substring(0, SHOWN_CHARS) + "...";
                throw new IllegalArgumentException(
                        "metadata key '" + shown + "' must consist of lower-case letters, digits and _ . -");
            }
            byte[] before = entries.put(key, value);
            bytes += value.length + (before == null ? key.length() : -before.length);
            if (entries.size() > MAX_PAIRS || bytes > MAX_BYTES) {
                throw new IllegalArgumentException("metadata of " + entries.size() + " pairs and " + bytes
                        + " bytes; at most " + MAX_PAIRS + " pairs and " + MAX_BYTES
                        + " bytes travel, so pass larger things as arguments");
            }
        }

        public Metadata build() {
            return entries.isEmpty() ? EMPTY : new Metadata(new LinkedHashMap<>(entries));
        }
    }
}
