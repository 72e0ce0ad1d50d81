package dev.rackcall.cp.table;

/**
 * Where a table lies in its owner's memory.
 *
 * @param address of its first byte
 * @param key the remote key
 * @param log2Buckets logarithm of the number of buckets, 1 to 24
 * @param epoch the owner's epoch; the table of another life has another one
 */
public record TableLocation(long address, int key, int log2Buckets, int epoch) {
    public TableLocation {
        if (log2Buckets < 1 || log2Buckets > 24) {
            throw new IllegalArgumentException("a table has 2^1 to 2^24 buckets, not 2^" + log2Buckets);
        }
    }
}
