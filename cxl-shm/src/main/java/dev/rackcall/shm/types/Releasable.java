package dev.rackcall.shm.types;

/**
 * For a shared type that calls return: {@link #close} releases a result, for example by try-with-resources. Other
 * shared types need no {@code close}: their objects belong to a scope, and as {@code AutoCloseable}s they would get a
 * compiler's warning for each variable.
 *
 * <pre>{@code
 * @Shared
 * public interface Book extends Releasable {
 *     String title();
 *     void title(String value);
 * }
 *
 * try (Book book = library.find(7)) {
 *     System.out.println(book.title());
 * }
 * }</pre>
 */
public interface Releasable extends AutoCloseable {
    /**
     * Releases the result of a call, with everything that its handler allocated for it: the server frees it. Closing
     * any object of the result releases the whole result. Using this flyweight then throws an {@link
     * IllegalStateException}; other flyweights on its objects must not be used any more. Does nothing for parts
     * embedded in an object ({@link Inline}), for objects that are not results, which their scope frees, and for those
     * already released. Any thread; never waits.
     */
    @Override
    default void close() {
        SharedObject.release(this);
    }
}
