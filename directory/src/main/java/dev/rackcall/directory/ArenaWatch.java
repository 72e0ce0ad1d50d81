package dev.rackcall.directory;

/** Reports when an arena has no owner any more, unless this watch is closed first. Thread-safe. */
public final class ArenaWatch implements AutoCloseable {
    private final Directory directory;
    private final Runnable whenGone;
    private final DirectoryStore.Following following;
    private boolean told;

    ArenaWatch(Directory directory, DirectoryStore store, int id, Runnable whenGone) {
        this.directory = directory;
        this.whenGone = whenGone;
        this.following = store.follow(EntryPaths.arena(id), entries -> {
            if (!entries.containsKey(EntryPaths.OWNER)) {
                directory.execute(this::gone);
            }
        });
    }

    /** Runs on the directory's thread. */
    private void gone() {
        if (!told) {
            told = true;
            directory.tell(_ -> whenGone.run(), this);
        }
    }

    /** Idempotent. */
    @Override
    public void close() {
        following.close();
    }
}
