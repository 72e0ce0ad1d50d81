package dev.rackcall.rpc.spi;

import java.util.Iterator;
import java.util.Map;
import java.util.Optional;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import java.util.concurrent.ConcurrentHashMap;

/** Finds a provider among those of a {@link ServiceLoader}, some of which may lack modules. */
final class CarrierSearch {
    /** {@code next()} may fail repeatedly without advancing, so the attempts are bounded. */
    private static final int MAX_FAILURES = 100;

    /** Found once, because a search reads all jars, and each connection needs its provider several times. */
    private static final Map<String, CarrierProvider> FOUND = new ConcurrentHashMap<>();

    private CarrierSearch() {}

    /**
     * The provider of this scheme, if this process has one.
     *
     * @param scheme of an address; null finds none
     */
    static Optional<CarrierProvider> of(String scheme) {
        if (scheme == null) {
            return Optional.empty();
        }
        Optional<CarrierProvider> known = Optional.ofNullable(FOUND.get(scheme));
        if (known.isPresent()) {
            return known;
        }
        Optional<CarrierProvider> found = first(
                ServiceLoader.load(CarrierProvider.class, CarrierProvider.class.getClassLoader())
                        .iterator(),
                scheme);
        found.ifPresent(provider -> FOUND.put(scheme, provider));
        return found;
    }

    /**
     * The first provider of this scheme; empty also if the loader keeps failing.
     *
     * @param scheme of an address; null finds none
     */
    static Optional<CarrierProvider> first(Iterator<CarrierProvider> providers, String scheme) {
        int failures = 0;
        while (failures < MAX_FAILURES) {
            try {
                if (!providers.hasNext()) {
                    return Optional.empty();
                }
                CarrierProvider next = providers.next();
                if (next.scheme().equals(scheme)) {
                    return Optional.of(next);
                }
            } catch (ServiceConfigurationError | NoClassDefFoundError e) {
                // A module that this provider needs is missing; the search continues with the others.
                failures++;
            }
        }
        return Optional.empty();
    }
}
