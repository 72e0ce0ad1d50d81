package dev.rackcall.directory;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;

/**
 * The endpoints of a channel as this process knows them, kept up to date until the view is closed. {@link #endpoints}
 * reads a field, so calls may use it. Thread-safe.
 */
public final class ChannelView implements AutoCloseable {
    private final Directory directory;
    private final ChannelName channel;
    private final List<Consumer<ChannelChange>> listeners = new CopyOnWriteArrayList<>();
    private final DirectoryStore.Following following;
    private volatile SortedMap<String, Endpoint> known = new TreeMap<>();
    private volatile List<Endpoint> endpoints = List.of();

    ChannelView(Directory directory, DirectoryStore store, ChannelName channel) {
        this.directory = directory;
        this.channel = channel;
        // The store's thread only parses; the directory's thread calls listeners, which may wait for the store.
        this.following = store.follow(EntryPaths.endpoints(channel), this::entriesChanged);
    }

    public ChannelName channel() {
        return channel;
    }

    /** All endpoints by id; unmodifiable. Never waits. While the store cannot be reached, the last known endpoints. */
    public List<Endpoint> endpoints() {
        return endpoints;
    }

    /** False while the store cannot be reached: the endpoints may be out of date. */
    public boolean isCurrent() {
        return following.isCurrent();
    }

    /**
     * Waits until there is an endpoint.
     *
     * @return all endpoints; none if the time is up
     * @throws InterruptedException if the thread is interrupted
     */
    public synchronized List<Endpoint> await(Duration atMost) throws InterruptedException {
        long end = System.nanoTime() + atMost.toNanos();
        while (endpoints.isEmpty()) {
            long left = end - System.nanoTime();
            if (left <= 0) {
                break;
            }
            // Rounded up, because wait(0) has no time limit.
            wait(left / 1_000_000 + 1);
        }
        return endpoints;
    }

    /**
     * Adds a listener. The directory's thread calls it with the current endpoints as added, if there are any, and then
     * for every change. Its exceptions are logged.
     */
    public void listen(Consumer<ChannelChange> listener) {
        directory.execute(() -> {
            List<Endpoint> now = endpoints;
            listeners.add(listener);
            if (!now.isEmpty()) {
                directory.tell(listener, new ChannelChange(now, List.of(), List.of(), now));
            }
        });
    }

    private void entriesChanged(SortedMap<String, byte[]> entries) {
        SortedMap<String, Endpoint> now = new TreeMap<>();
        entries.forEach((id, bytes) -> Records.read(bytes, Endpoint.class, EntryPaths.endpoint(channel, id))
                .filter(endpoint -> endpoint.id().equals(id))
                .ifPresent(endpoint -> now.put(id, endpoint)));
        directory.execute(() -> become(now));
    }

    /** Runs on the directory's thread. */
    private void become(SortedMap<String, Endpoint> now) {
        SortedMap<String, Endpoint> before = known;
        if (now.equals(before)) {
            return;
        }
        List<Endpoint> added = new ArrayList<>();
        List<Endpoint> changed = new ArrayList<>();
        List<Endpoint> gone = new ArrayList<>();
        now.forEach((id, endpoint) -> {
            Endpoint old = before.get(id);
            if (old == null) {
                added.add(endpoint);
            } else if (!old.equals(endpoint)) {
                changed.add(endpoint);
            }
        });
        before.forEach((id, endpoint) -> {
            if (!now.containsKey(id)) {
                gone.add(endpoint);
            }
        });
        List<Endpoint> all = List.copyOf(now.values());
        synchronized (this) {
            known = now;
            endpoints = all;
            notifyAll();
        }
        ChannelChange change = new ChannelChange(List.copyOf(added), List.copyOf(changed), List.copyOf(gone), all);
        listeners.forEach(listener -> directory.tell(listener, change));
    }

    /** Stops following; {@link #endpoints} keeps its last value. Idempotent. */
    @Override
    public void close() {
        following.close();
    }
}
