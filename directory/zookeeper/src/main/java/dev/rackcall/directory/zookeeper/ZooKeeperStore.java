package dev.rackcall.directory.zookeeper;

import dev.rackcall.directory.DirectoryException;
import dev.rackcall.directory.DirectoryException.Reason;
import dev.rackcall.directory.DirectoryOptions;
import dev.rackcall.directory.DirectoryStore;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.curator.retry.RetryUntilElapsed;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.Stat;

/**
 * A directory in ZooKeeper. Curator retries operations that the loss of a server interrupted. Each creation writes a
 * unique tag, by which its retry recognizes the node that it has already made.
 */
final class ZooKeeperStore implements DirectoryStore {
    private static final int RETRY_MILLIS = 100;

    private final CuratorFramework client;
    private final ScheduledExecutorService thread = Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().daemon().name("rackcall-directory-zk").factory());
    private final String root;
    private final String servers;
    private final String member = Long.toHexString(new Random().nextLong() | Long.MIN_VALUE);
    private final AtomicLong attempts = new AtomicLong();
    /**
     * The tags of creations that have not been answered, by path. The ensemble may have made their nodes nevertheless,
     * and the next creation must not take such a node for another member's.
     */
    private final Map<String, String> unanswered = new ConcurrentHashMap<>();

    private volatile LeaseListener leaseListener;
    private volatile boolean connected = true;
    private volatile boolean leaseHeld = true;
    private volatile boolean closed;

    private ZooKeeperStore(CuratorFramework client, String servers, String root) {
        this.client = client;
        this.servers = servers;
        this.root = root;
    }

    static ZooKeeperStore open(String servers, String root, DirectoryOptions options) {
        int millis = Math.toIntExact(Math.min(options.timeout().toMillis(), Integer.MAX_VALUE));
        CuratorFramework client = CuratorFrameworkFactory.builder()
                .connectString(servers)
                .sessionTimeoutMs(Math.toIntExact(options.lease().toMillis()))
                // An attempt and the wait for a connection together take at most the time limit.
                .connectionTimeoutMs(Math.clamp(options.lease().toMillis() - 1, 1, Math.max(1, millis / 2)))
                .retryPolicy(new RetryUntilElapsed(Math.max(1, millis / 2), RETRY_MILLIS))
                .threadFactory(Thread.ofPlatform()
                        .daemon()
                        .name("rackcall-curator-", 0)
                        .factory())
                .build();
        ZooKeeperStore store = new ZooKeeperStore(client, servers, root);
        client.getConnectionStateListenable().addListener((_, state) -> store.became(state));
        client.start();
        try {
            if (client.blockUntilConnected(millis, TimeUnit.MILLISECONDS)) {
                return store;
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        store.close();
        throw new DirectoryException(
                Reason.UNAVAILABLE,
                "no ZooKeeper server of " + servers + " has answered within " + millis
                        + " ms; are they running, and is the address right?");
    }

    /** Runs on Curator's thread. Curator closes a lost session, so a new connection is always a new lease. */
    private void became(ConnectionState state) {
        switch (state) {
            case CONNECTED, RECONNECTED -> {
                connected = true;
                if (!leaseHeld) {
                    leaseHeld = true;
                    tell(LeaseListener::renewed);
                }
            }
            case SUSPENDED -> connected = false;
            case LOST -> {
                connected = false;
                if (leaseHeld) {
                    leaseHeld = false;
                    tell(LeaseListener::lost);
                }
            }
            case READ_ONLY -> connected = false;
        }
    }

    private void tell(Consumer<LeaseListener> what) {
        LeaseListener listener = leaseListener;
        if (listener != null && !closed) {
            what.accept(listener);
        }
    }

    /** The current session; tests end it. */
    ZooKeeper zooKeeper() throws Exception {
        return client.getZookeeperClient().getZooKeeper();
    }

    boolean isOpen() {
        return !closed;
    }

    boolean isConnected() {
        return connected && !closed;
    }

    private String node(String path) {
        return root + path;
    }

    private <T> T ask(String what, Callable<T> question) {
        if (closed) {
            throw new DirectoryException(Reason.CLOSED, what + ": this directory has been closed; open another one");
        }
        try {
            return question.call();
        } catch (KeeperException.ConnectionLossException
                | KeeperException.OperationTimeoutException
                | KeeperException.SessionExpiredException e) {
            throw new DirectoryException(
                    Reason.UNAVAILABLE,
                    what + ": the ZooKeeper servers " + servers + " do not answer (" + e.code()
                            + "); it is not known whether it was done",
                    e);
        } catch (KeeperException e) {
            throw new DirectoryException(
                    Reason.UNAVAILABLE,
                    what + ": the ZooKeeper servers " + servers + " refuse it: " + e.getMessage(),
                    e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new DirectoryException(Reason.UNAVAILABLE, what + ": interrupted", e);
        } catch (RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new DirectoryException(Reason.UNAVAILABLE, what + ": " + e, e);
        }
    }

    private boolean isMine(Stat stat) throws Exception {
        return stat.getEphemeralOwner() == zooKeeper().getSessionId();
    }

    @Override
    public boolean create(String path, byte[] value) {
        if (!leaseHeld) {
            throw new DirectoryException(
                    Reason.LEASE_LOST,
                    "making " + path + ": the session with the ZooKeeper servers " + servers
                            + " has ended and there is no new one yet; try again in a moment");
        }
        // Taken out, so that of two threads that create the same node only one can own it.
        String lost = unanswered.remove(path);
        String tag = lost == null ? member + "-" + attempts.incrementAndGet() : lost;
        try {
            return create(path, tag, value);
        } catch (DirectoryException e) {
            unanswered.put(path, tag);
            throw e;
        }
    }

    private boolean create(String path, String tag, byte[] value) {
        byte[] tagged = TaggedValue.of(tag, value);
        return ask("making " + path, () -> {
            try {
                client.create()
                        .creatingParentContainersIfNeeded()
                        .withMode(CreateMode.EPHEMERAL)
                        .forPath(node(path), tagged);
                return true;
            } catch (KeeperException.NodeExistsException e) {
                return isFromAnEarlierAttempt(path, tagged);
            }
        });
    }

    /** Whether the node was made by a lost request of this creation, or of an earlier one that ended without an answer. */
    private boolean isFromAnEarlierAttempt(String path, byte[] tagged) throws Exception {
        try {
            Stat stat = new Stat();
            byte[] found = client.getData().storingStatIn(stat).forPath(node(path));
            if (!TaggedValue.haveSameTag(found, tagged) || !isMine(stat)) {
                return false;
            }
            if (!Arrays.equals(found, tagged)) {
                client.setData().forPath(node(path), tagged);
            }
            return true;
        } catch (KeeperException.NoNodeException e) {
            // Another session's node, which has been removed since. It existed when this creation was tried.
            return false;
        }
    }

    @Override
    public boolean replace(String path, byte[] value) {
        return ask("changing " + path, () -> {
            Stat stat = client.checkExists().forPath(node(path));
            if (stat == null || !isMine(stat)) {
                return false;
            }
            try {
                client.setData().forPath(node(path), TaggedValue.of(member + "-" + attempts.incrementAndGet(), value));
                return true;
            } catch (KeeperException.NoNodeException e) {
                return false;
            }
        });
    }

    @Override
    public void remove(String path) {
        ask("removing " + path, () -> {
            Stat stat = client.checkExists().forPath(node(path));
            if (stat != null && isMine(stat)) {
                client.delete().quietly().forPath(node(path));
            }
            return true;
        });
        unanswered.remove(path);
    }

    @Override
    public void put(String path, byte[] value) {
        ask(
                "writing " + path,
                () -> client.create()
                        .orSetData()
                        .creatingParentContainersIfNeeded()
                        .forPath(node(path), TaggedValue.of(member, value)));
    }

    /** Makes the next read no older than its request, since a server of the ensemble may lag. */
    private void catchUp(String path) throws Exception {
        // Not awaited: the answers of one session arrive in order.
        zooKeeper().sync(node(path), (_, _, _) -> {}, null);
    }

    @Override
    public Optional<byte[]> get(String path) {
        return ask("reading " + path, () -> {
            catchUp(path);
            try {
                return TaggedValue.value(client.getData().forPath(node(path)));
            } catch (KeeperException.NoNodeException e) {
                return Optional.empty();
            }
        });
    }

    @Override
    public List<String> children(String folder) {
        return ask("listing " + folder, () -> {
            catchUp(folder);
            try {
                return client.getChildren().forPath(node(folder)).stream()
                        .sorted()
                        .toList();
            } catch (KeeperException.NoNodeException e) {
                return List.of();
            }
        });
    }

    @Override
    public Following follow(String folder, Follower follower) {
        NodeFollowing following = new NodeFollowing(this, client, thread, node(folder), follower);
        following.start();
        return following;
    }

    @Override
    public boolean isLeaseHeld() {
        return leaseHeld && !closed;
    }

    @Override
    public void onLease(LeaseListener listener) {
        leaseListener = listener;
    }

    /** Ends the session, which removes its nodes. */
    @Override
    public void close() {
        closed = true;
        thread.shutdownNow();
        client.close();
    }
}
