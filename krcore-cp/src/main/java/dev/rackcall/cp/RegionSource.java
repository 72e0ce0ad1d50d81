package dev.rackcall.cp;

import dev.rackcall.cp.TableReader.StaleTableException;
import java.util.Optional;

/** Who knows a peer's memory regions. */
@FunctionalInterface
interface RegionSource {
    /**
     * What the peer says now about the region of this remote key.
     *
     * @return empty if it has no such region
     * @throws StaleTableException if the peer is gone, or lives another life
     */
    Optional<RegionRecord> find(int key) throws StaleTableException;
}
