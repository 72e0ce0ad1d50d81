package dev.rackcall.grpc;

import io.grpc.NameResolverRegistry;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A channel's target in two parts, such as {@code rackcall:///shop/cart} and its fallback {@code
 * dns:///cart.internal:8443}.
 *
 * @param channel the target without its fallback
 * @param fallback empty if the target names none
 */
record FallbackTarget(String channel, Optional<URI> fallback) {
    /** How the fallback begins in a target's query. */
    static final String PARAMETER = "fallback=";

    static final String EXAMPLE = "; write a target with its scheme, such as dns:///cart.internal:8443";

    /**
     * Splits a target.
     *
     * @throws IllegalArgumentException if its fallback is malformed, or stands beside parameters that are not known
     */
    static FallbackTarget split(String target) {
        int query = target.indexOf('?');
        if (query < 0 || !isOfRackcall(target)) {
            return new FallbackTarget(target, Optional.empty());
        }
        List<String> fallbacks = new ArrayList<>();
        List<String> others = new ArrayList<>();
        for (String each : target.substring(query + 1).split("&")) {
            (each.startsWith(PARAMETER) ? fallbacks : others).add(each);
        }
        if (fallbacks.isEmpty()) {
            return new FallbackTarget(target, Optional.empty());
        }
        // Only the address of a directory has options of its own.
        boolean isKnown =
                others.size() < 2 || others.getFirst().matches(RackcallSocketAddress.DIRECTORY + "[^?]*\\?.*");
        if (fallbacks.size() > 1 || !isKnown) {
            throw new IllegalArgumentException("the target " + target + " has the parameters " + fallbacks + " and "
                    + others + "; name one fallback, at most one other parameter, and write & as %26 in their values");
        }
        String rest = others.isEmpty() ? "" : "?" + String.join("&", others);
        return new FallbackTarget(
                target.substring(0, query) + rest,
                Optional.of(checked(decoded(fallbacks.getFirst().substring(PARAMETER.length())))));
    }

    static boolean isOfRackcall(String target) {
        return target.startsWith(RackcallSocketAddress.SCHEME + ":");
    }

    private static String decoded(String encoded) {
        try {
            return URI.create("?" + encoded).getQuery();
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(
                    "the fallback " + encoded + " has characters that a URI does not allow" + EXAMPLE, e);
        }
    }

    /**
     * A fallback as gRPC's resolvers take it.
     *
     * @throws IllegalArgumentException if no resolver knows its scheme, or if it is Rackcall's own
     */
    static URI checked(String fallback) {
        URI target;
        try {
            target = URI.create(fallback);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("the fallback " + fallback + " is not a URI" + EXAMPLE, e);
        }
        String scheme = target.getScheme();
        if (scheme == null || NameResolverRegistry.getDefaultRegistry().getProviderForScheme(scheme) == null) {
            throw new IllegalArgumentException(
                    "no name resolver here knows the scheme " + scheme + " of the fallback " + fallback + EXAMPLE);
        }
        if (isOfRackcall(fallback)) {
            throw new IllegalArgumentException(
                    "the fallback " + fallback + " is a Rackcall channel, not a target over HTTP/2" + EXAMPLE);
        }
        return target;
    }
}
