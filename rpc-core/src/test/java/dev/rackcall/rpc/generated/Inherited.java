package dev.rackcall.rpc.generated;

import dev.rackcall.rpc.Rpc;
import java.util.Map;

/** A service gets the methods of the interfaces that it extends, with their type variables filled in. */
interface Inherited<K extends Comparable<K>, V> {
    @Rpc
    Map<K, V> mapped(K key, V value);

    /** Methods of {@code Object} are not remote. */
    @Override
    String toString();
}
