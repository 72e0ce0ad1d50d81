package dev.rackcall.sandbox;

import dev.rackcall.shm.Ref;
import dev.rackcall.shm.types.Shared;

/** A node of a linked list. */
@Shared
public interface Node {
    long value();

    void value(long value);

    Ref<Node> next();

    void next(Ref<Node> next);
}
