package dev.rackcall.directory.zookeeper;

import dev.rackcall.directory.DirectoryException;
import dev.rackcall.directory.DirectoryException.Reason;
import dev.rackcall.directory.DirectoryOptions;
import dev.rackcall.directory.DirectoryStore;
import dev.rackcall.directory.StoreProvider;
import java.net.URI;
import java.util.regex.Pattern;

/** {@code zk://host:port,host:port/folder}; without a folder {@code /rackcall}. */
public final class ZooKeeperStoreProvider implements StoreProvider {
    private static final Pattern SERVERS = Pattern.compile("[^,:/]+:\\d{1,5}(,[^,:/]+:\\d{1,5})*");
    private static final Pattern FOLDER = Pattern.compile("(/[A-Za-z0-9._-]+)*/?");
    private static final String DEFAULT_FOLDER = "/rackcall";

    /** For {@code ServiceLoader}. */
    public ZooKeeperStoreProvider() {}

    @Override
    public String scheme() {
        return "zk";
    }

    @Override
    public DirectoryStore open(URI address, DirectoryOptions options) {
        String servers = address.getRawAuthority();
        String folder = address.getRawPath() == null ? "" : address.getRawPath();
        if (servers == null
                || !SERVERS.matcher(servers).matches()
                || !FOLDER.matcher(folder).matches()) {
            throw new DirectoryException(
                    Reason.INVALID,
                    "'" + address + "' is not a ZooKeeper address; write zk://host:2181,host:2181, or with a"
                            + " folder of your own zk://host:2181/folder");
        }
        boolean isRoot = folder.isEmpty() || folder.equals("/");
        return ZooKeeperStore.open(servers, isRoot ? DEFAULT_FOLDER : folder.replaceAll("/$", ""), options);
    }
}
