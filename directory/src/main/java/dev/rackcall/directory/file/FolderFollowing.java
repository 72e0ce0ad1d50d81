package dev.rackcall.directory.file;

import dev.rackcall.directory.DirectoryStore.Follower;
import dev.rackcall.directory.DirectoryStore.Following;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Consumer;

/** One followed folder; used by the store's thread, except for its end. */
final class FolderFollowing implements Following {
    private final Tree tree;
    private final String folder;
    private final Follower follower;
    private final Consumer<FolderFollowing> whenClosed;
    private Optional<Map<String, Entry>> told = Optional.empty();
    private volatile boolean current;

    FolderFollowing(Tree tree, String folder, Follower follower, Consumer<FolderFollowing> whenClosed) {
        this.tree = tree;
        this.folder = folder;
        this.follower = follower;
        this.whenClosed = whenClosed;
    }

    /** Reads the folder, and reports its entries if they have changed. */
    void look(Map<String, Boolean> alive) throws IOException {
        Map<String, Entry> now = new HashMap<>();
        for (String name : tree.entries(folder)) {
            tree.read(folder + "/" + name)
                    .filter(entry -> entry.owner().isEmpty() || alive.getOrDefault(entry.owner(), false))
                    .ifPresent(entry -> now.put(name, entry));
        }
        current = true;
        if (!told.equals(Optional.of(now))) {
            told = Optional.of(now);
            SortedMap<String, byte[]> values = new TreeMap<>();
            now.forEach((name, entry) -> values.put(name, entry.value()));
            follower.changed(values);
        }
    }

    /** The folder cannot be read now, or is no longer read. */
    void lose() {
        current = false;
    }

    @Override
    public boolean isCurrent() {
        return current;
    }

    @Override
    public void close() {
        whenClosed.accept(this);
    }
}
