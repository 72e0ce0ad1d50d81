package dev.rackcall.perf.calls;

import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.shm.Ref;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.types.SharedList;

/**
 * A pointer-rich argument: a tree of nodes, each with a text and a list of children, in one scope of the connection's
 * arena.
 *
 * @param scope where it lies; the owner of the graph closes it
 * @param root what is passed
 * @param size how many nodes it has
 */
public record Graph(Scope scope, BenchNode root, int size) {
    /** Children of a node. */
    public static final int FAN_OUT = 16;
    /** A node, its text, its list and, for most lists, an array. A test measures this. */
    private static final double BYTES_PER_NODE = 100;
    /** Nodes may overshoot the wanted size by one family and its list. */
    private static final int SLACK = 64 * 1024;

    /** The number of nodes that fill about this many bytes. */
    public static int nodes(int bytes) {
        return (int) (bytes / BYTES_PER_NODE);
    }

    /** The text of a node. */
    public static String text(int number) {
        return "node " + number;
    }

    /** Adds family by family, each below the last child of the one before, until the objects fill {@code bytes}. */
    public static Graph build(RpcChannel channel, int bytes) {
        Scope scope = channel.newScope(bytes + (long) SLACK);
        BenchNode root = node(scope, 0);
        SharedList<BenchNode> level = SharedList.create(scope, BenchNode.class);
        root.children(level);
        long first = Ref.offset(scope.allocate(Long.BYTES));
        int nodes = 1;
        while (Ref.offset(scope.allocate(Long.BYTES)) - first < bytes) {
            BenchNode child = node(scope, nodes++);
            SharedList<BenchNode> children = SharedList.create(scope, BenchNode.class);
            child.children(children);
            level.add(child);
            if (level.size() == FAN_OUT) {
                level = children;
            }
        }
        return new Graph(scope, root, nodes);
    }

    private static BenchNode node(Scope scope, int number) {
        BenchNode node = scope.create(BenchNode.class);
        node.text(text(number));
        node.sequence(number);
        return node;
    }
}
