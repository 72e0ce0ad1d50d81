package dev.rackcall.rpc;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/**
 * Key-value pairs that travel beside a call: headers with the request, trailers with the response. Keys are lower-case ASCII; a key ending in
 * {@code -bin} holds bytes, any other holds text. Immutable, so that one instance may serve many calls and threads.
 */
public final class Metadata {
    public static final Metadata EMPTY = new Metadata(Map.of());

    /** The suffix of keys whose values are bytes. */
    public static final String BINARY_SUFFIX = "-bin";

    private final Map<String, byte[]> entries;

    private Metadata(Map<String, byte[]> entries) {
        this.entries = entries;
    }

    public static Metadata of(String key, String value) {
        return EMPTY.with(key, value);
    }

    /** A copy with that pair added or replaced. */
    public Metadata with(String key, String value) {
        if (key.endsWith(BINARY_SUFFIX)) {
            throw new IllegalArgumentException("metadata key " + key + " ends in -bin, so its value must be a byte[]");
        }
        return put(key, value.getBytes(StandardCharsets.UTF_8));
    }

    /** A copy with that pair added or replaced; the key must end in {@code -bin}. */
    public Metadata with(String key, byte[] value) {
        if (!key.endsWith(BINARY_SUFFIX)) {
            throw new IllegalArgumentException("metadata key " + key + " has a byte[] value, so it must end in -bin");
        }
        return put(key, value.clone());
    }

    /** A copy that also has all pairs of {@code other}, which win. */
    public Metadata with(Metadata other) {
        if (entries.isEmpty()) {
            return other;
        }
        if (other.isEmpty()) {
            return this;
        }
        Map<String, byte[]> merged = new LinkedHashMap<>(entries);
        merged.putAll(other.entries);
        return new Metadata(merged);
    }

    private Metadata put(String key, byte[] value) {
        Objects.requireNonNull(value, key);
        if (!key.equals(key.toLowerCase(Locale.ROOT)) || !key.matches("[0-9a-z_.-]+")) {
            throw new IllegalArgumentException(
                    "metadata key '" + key + "' must consist of lower-case letters, digits and _ . -");
        }
        Map<String, byte[]> copy = new LinkedHashMap<>(entries);
        copy.put(key, value);
        return new Metadata(copy);
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
}
