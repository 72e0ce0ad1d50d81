package dev.rackcall.perf.objects;

import dev.rackcall.perf.harness.BenchArena;
import dev.rackcall.shm.Ref;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.types.DeepCopy;
import dev.rackcall.shm.types.SharedObject;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

/**
 * A search tree of 100,000 random numbers, walked in order: once of shared objects, once of a deep copy of them, once of
 * plain ones. The first and the last are built in the same order, so that neighbours in the tree are strangers in memory.
 * The garbage collector then moves the plain ones together; shared objects never move, but a copy lies together as well.
 */
final class GraphSubjects {
    private static final int NODES = 100_000;
    private static final long SEED = 4711;

    private final Scope scope;
    private final TreeNode root = TreeNode.TYPE.flyweight();
    private final TreeNode copiedRoot;
    private final HeapNode heapRoot;
    /** A flyweight for each depth. */
    private TreeNode[] walkers = {};

    private static final class HeapNode {
        private final long value;
        private HeapNode left;
        private HeapNode right;

        HeapNode(long value) {
            this.value = value;
        }
    }

    private GraphSubjects(BenchArena memory) {
        scope = memory.arena().newScope();
        long[] values = new Random(SEED).longs(NODES).toArray();
        heapRoot = new HeapNode(values[0]);
        TreeNode.TYPE.create(scope, root);
        root.value(values[0]);
        for (int i = 1; i < NODES; i++) {
            insertHeap(values[i]);
            insertShared(values[i]);
        }
        walkers = new TreeNode[depth(heapRoot)];
        Arrays.setAll(walkers, _ -> TreeNode.TYPE.flyweight());
        copiedRoot = DeepCopy.DEFAULT.copy(root, memory.arena().newScope());
    }

    static List<ObjectSubject> of(BenchArena memory) {
        GraphSubjects graphs = new GraphSubjects(memory);
        return List.of(
                new ObjectSubject("walk-graph-rackcall", graphs::walkShared, TreeNode.TYPE.bytes(), NODES),
                new ObjectSubject("walk-graph-copied-rackcall", graphs::walkCopied, TreeNode.TYPE.bytes(), NODES),
                new ObjectSubject("walk-graph-heap", () -> sum(graphs.heapRoot, 0), 0, NODES));
    }

    private void insertHeap(long value) {
        HeapNode node = heapRoot;
        while (true) {
            HeapNode next = value < node.value ? node.left : node.right;
            if (next == null) {
                HeapNode leaf = new HeapNode(value);
                if (value < node.value) {
                    node.left = leaf;
                } else {
                    node.right = leaf;
                }
                return;
            }
            node = next;
        }
    }

    private void insertShared(long value) {
        TreeNode node = TreeNode.TYPE.attach(scope, SharedObject.toRef(root));
        while (value < node.value() ? node.left(node) : node.right(node)) {
            // The condition goes down.
        }
        Ref<TreeNode> leaf = SharedObject.toRef(TreeNode.TYPE.create(scope).value(value));
        if (value < node.value()) {
            node.left(leaf);
        } else {
            node.right(leaf);
        }
    }

    private static int depth(HeapNode node) {
        return node == null ? 0 : 1 + Math.max(depth(node.left), depth(node.right));
    }

    private long walkShared() {
        return sum(root, 0, 0);
    }

    private long walkCopied() {
        return sum(copiedRoot, 0, 0);
    }

    private long sum(TreeNode node, int depth, long before) {
        long sum = before;
        TreeNode child = walkers[depth];
        if (node.left(child)) {
            sum = sum(child, depth + 1, sum);
        }
        sum = sum * 31 + node.value();
        return node.right(child) ? sum(child, depth + 1, sum) : sum;
    }

    private static long sum(HeapNode node, long before) {
        long sum = node.left == null ? before : sum(node.left, before);
        sum = sum * 31 + node.value;
        return node.right == null ? sum : sum(node.right, sum);
    }
}
