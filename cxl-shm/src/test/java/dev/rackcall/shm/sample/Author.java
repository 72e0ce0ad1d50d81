package dev.rackcall.shm.sample;

import dev.rackcall.shm.types.Shared;
import dev.rackcall.shm.types.SharedList;

@Shared
public interface Author {
    String name();

    Author name(String value);

    SharedList<Document> works();

    Author works(SharedList<Document> value);
}
