package dev.rackcall.shm.types;

import dev.rackcall.shm.Scope;

/**
 * Copies whole graphs of shared objects from one scope to another, possibly in another arena. An object that is
 * reachable over several paths is copied once, and cycles stay cycles. The copy does not recurse, so lists may have any
 * length.
 *
 * <p>The limits bound what a graph built by a peer can cost. If one is exceeded, or a reference cannot be followed, the
 * copy ends with an exception. What was copied so far stays in the target scope until that is closed or reset.
 *
 * @param maxObjects maximum number of objects in one copy; a container counts as two or more
 * @param maxBytes maximum number of bytes in one copy
 */
public record DeepCopy(long maxObjects, long maxBytes) {
    /** 4 Mi objects, 256 MiB. */
    public static final DeepCopy DEFAULT = limitedTo(4L << 20, 256L << 20);

    public DeepCopy {
        if (maxObjects < 1 || maxBytes < 1) {
            throw new IllegalArgumentException("limits of a deep copy must be positive, not " + maxObjects
                    + " objects and " + maxBytes + " bytes");
        }
        maxObjects = Math.min(maxObjects, Integer.MAX_VALUE / 4);
    }

    public static DeepCopy limitedTo(long maxObjects, long maxBytes) {
        return new DeepCopy(maxObjects, maxBytes);
    }

    /**
     * Copies an object and everything that it can reach.
     *
     * @param root a shared object that is not part of another one ({@link Inline}, {@link SharedInlineArray})
     * @param target the scope of all copies, used by its own thread
     * @return a flyweight on the copy of the root, which allocates in {@code target}
     * @throws dev.rackcall.shm.RefException if a reference in the graph cannot be followed
     * @throws SharedDataException if the graph exceeds a limit
     */
    public <T> T copy(T root, Scope target) {
        @SuppressWarnings("unchecked") // a flyweight's type object makes flyweights of the same class
        SharedType<T> type = (SharedType<T>) SharedObject.typeOf(root);
        long copy = new GraphCopy(SharedObject.spaceOf(root), target, maxObjects, maxBytes)
                .run(type, SharedObject.refOf(root));
        return type.attach(target.space(), target, copy);
    }
}
