package dev.rackcall.directory.zookeeper;

import dev.rackcall.directory.DirectoryStore;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.watch.PersistentWatcher;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.WatchedEvent;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One folder under a persistent watch. After any event, the store's thread lists the children and reads those that
 * events have named, and retries until that succeeds. After a reconnection it reads all, since events may be lost.
 */
final class NodeFollowing implements DirectoryStore.Following {
    private static final Logger LOG = LoggerFactory.getLogger(NodeFollowing.class);
    private static final long RETRY_MILLIS = 100;

    private final ZooKeeperStore store;
    private final CuratorFramework client;
    private final ScheduledExecutorService thread;
    private final String folder;
    private final DirectoryStore.Follower follower;
    private final PersistentWatcher watcher;
    private final AtomicBoolean due = new AtomicBoolean();
    private final Set<String> stale = new HashSet<>();
    private boolean allStale = true;
    private Map<String, Optional<byte[]>> known = new HashMap<>();
    private boolean told;
    private volatile boolean current;

    NodeFollowing(
            ZooKeeperStore store,
            CuratorFramework client,
            ScheduledExecutorService thread,
            String folder,
            DirectoryStore.Follower follower) {
        this.store = store;
        this.client = client;
        this.thread = thread;
        this.folder = folder;
        this.follower = follower;
        this.watcher = new PersistentWatcher(client, folder, true);
        watcher.getListenable().addListener(this::happened);
        watcher.getResetListenable().addListener(this::watchSet);
    }

    void start() {
        watcher.start();
    }

    /** Runs on Curator's thread. */
    private void happened(WatchedEvent event) {
        String path = event.getPath();
        if (path != null && path.startsWith(folder + "/")) {
            synchronized (stale) {
                stale.add(path.substring(folder.length() + 1));
            }
            becomeDue();
        } else if (folder.equals(path)) {
            becomeDue();
        }
    }

    /**
     * Runs on Curator's thread when the watch is set, for the first time or after an interruption. Events may have been
     * missed, so all children are read.
     */
    private void watchSet() {
        synchronized (stale) {
            allStale = true;
        }
        becomeDue();
    }

    private void becomeDue() {
        if (due.compareAndSet(false, true)) {
            later(0);
        }
    }

    private void later(long millis) {
        try {
            var _ = thread.schedule(this::readAnew, millis, TimeUnit.MILLISECONDS);
        } catch (RejectedExecutionException e) {
            LOG.debug("{} is no longer followed", folder);
        }
    }

    /** Runs on the store's thread. */
    private void readAnew() {
        if (!store.isOpen()) {
            return;
        }
        due.set(false);
        Set<String> again = new HashSet<>();
        boolean all;
        synchronized (stale) {
            again.addAll(stale);
            stale.clear();
            all = allStale;
            allStale = false;
        }
        try {
            read(again, all);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (Exception e) {
            LOG.info("{} cannot be read now ({}); its last known entries stay", folder, e.toString());
            current = false;
            synchronized (stale) {
                stale.addAll(again);
                allStale |= all;
            }
            if (due.compareAndSet(false, true)) {
                later(RETRY_MILLIS);
            }
        }
    }

    private void read(Set<String> again, boolean all) throws Exception {
        Map<String, Optional<byte[]>> now = new HashMap<>();
        for (String name : children()) {
            Optional<byte[]> before = known.get(name);
            now.put(name, all || before == null || again.contains(name) ? value(name) : before);
        }
        boolean changed = !told || all || !again.isEmpty() || !now.keySet().equals(known.keySet());
        known = now;
        // Set before the report, so that followers find the folder current.
        current = true;
        if (changed) {
            told = true;
            SortedMap<String, byte[]> entries = new TreeMap<>();
            now.forEach((name, value) -> value.ifPresent(bytes -> entries.put(name, bytes)));
            follower.changed(entries);
        }
    }

    private List<String> children() throws Exception {
        try {
            return client.getChildren().forPath(folder);
        } catch (KeeperException.NoNodeException e) {
            return List.of();
        }
    }

    /** Empty for a folder, for a node of another program, and for a node that is gone, which the watch reports, too. */
    private Optional<byte[]> value(String name) throws Exception {
        try {
            return TaggedValue.value(client.getData().forPath(folder + "/" + name));
        } catch (KeeperException.NoNodeException e) {
            return Optional.empty();
        }
    }

    @Override
    public boolean isCurrent() {
        return current && store.isConnected();
    }

    @Override
    public void close() {
        watcher.close();
    }
}
