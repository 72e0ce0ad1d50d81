package dev.rackcall.rpc.spi;

import java.util.Iterator;
import java.util.Optional;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;

/** Looks a carrier up among those of a {@link ServiceLoader}, of which some may lack what they need. */
final class CarrierSearch {
    /** A loader that fails in itself need not get on to the next one by that, and would be asked for ever. */
    private static final int MAX_FAILURES = 100;

    private CarrierSearch() {}

    /**
     * The first of this scheme; empty also if the loader fails again and again before one comes.
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
                // Its module is there, one that it needs is not: the others are looked at all the same.
                failures++;
            }
        }
        return Optional.empty();
    }
}
