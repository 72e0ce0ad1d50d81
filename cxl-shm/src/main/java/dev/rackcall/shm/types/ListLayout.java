package dev.rackcall.shm.types;

/**
 * The head of every list. The elements are an array object of their own, which a larger one replaces when it is full.
 *
 * <pre>
 *   0               8          12         16                  24
 *  +---------------+----------+----------+-------------------+
 *  | object header |   size   |  unused  |  Ref of elements  |
 *  +---------------+----------+----------+-------------------+
 * </pre>
 */
final class ListLayout {
    static final int SIZE = 8;
    static final int ELEMENTS = 16;
    static final int BYTES = 24;

    private ListLayout() {}
}
