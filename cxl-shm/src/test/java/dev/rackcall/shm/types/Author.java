package dev.rackcall.shm.types;

import dev.rackcall.shm.Shared;
import dev.rackcall.shm.SharedList;

@Shared
public interface Author {
    String name();

    Author name(String value);

    SharedList<Document> works();

    Author works(SharedList<Document> value);
}
