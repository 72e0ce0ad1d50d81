package dev.rackcall.rpc.hostile;

import dev.rackcall.rpc.RpcContext;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.contract.Echo;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.types.DeepCopy;
import dev.rackcall.shm.types.SharedIntList;
import dev.rackcall.shm.types.SharedList;
import dev.rackcall.shm.types.SharedLongMap;
import dev.rackcall.shm.types.SharedObject;
import dev.rackcall.shm.types.SharedString;
import dev.rackcall.shm.types.SharedStringMap;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;

/** A careful implementation of {@link Catalogue}: it bounds its walks. */
class CatalogueService implements Catalogue {
    private static final int MAX_STEPS = 2_000;
    private static final DeepCopy LIMITS = DeepCopy.limitedTo(2_000, 1 << 20);

    @Override
    public long walk(Node root) {
        Deque<Node> open = new ArrayDeque<>();
        open.add(root);
        long sum = 0;
        int steps = 0;
        while (!open.isEmpty()) {
            Node node = open.remove();
            sum += read(node);
            steps = expand(node, open, steps);
        }
        return sum;
    }

    private static long read(Node node) {
        long sum = node.id() + node.kind().ordinal() + node.code().length();
        sum += node.title().length()
                + node.blob().length
                + node.text().toString().length();
        for (int i = 0, n = Math.min(node.numbers().size(), MAX_STEPS); i < n; i++) {
            sum += node.numbers().get(i);
        }
        return sum + node.other().map(Node::id).orElse(0L);
    }

    private static int expand(Node node, Deque<Node> open, int stepsBefore) {
        int steps = stepsBefore;
        for (Node child : node.children()) {
            steps = push(child, open, steps);
        }
        for (SharedStringMap.Cursor<Node> cursor = node.byName().cursor(); cursor.next(); ) {
            if (node.byName().get(cursor.key()).isPresent()) {
                steps = push(cursor.value(), open, steps);
            }
        }
        for (SharedLongMap.Cursor<Node> cursor = node.byNumber().cursor(); cursor.next(); ) {
            if (node.byNumber().containsKey(cursor.key())) {
                steps = push(cursor.value(), open, steps);
            }
        }
        node.byName().get("child3");
        return steps;
    }

    private static int push(Node node, Deque<Node> open, int steps) {
        if (steps >= MAX_STEPS) {
            throw Status.Code.INVALID_ARGUMENT
                    .with("a graph of more than %d nodes", MAX_STEPS)
                    .asException();
        }
        open.add(node);
        return steps + 1;
    }

    @Override
    public Node copy(Node root) {
        return LIMITS.copy(root, RpcContext.current().orElseThrow().replyScope());
    }

    @Override
    public void take(Node root) {
        RpcContext.current().orElseThrow().adopt(root).close();
    }

    @Override
    public List<Node> same(List<Node> roots) {
        return roots;
    }

    /** A graph of {@code nodes} nodes with cycles; every title begins with {@code mark}. */
    static Node build(Scope scope, String mark, int nodes) {
        Node root = node(scope, mark, 0);
        for (int i = 1; i < nodes; i++) {
            Node child = node(scope, mark, i);
            child.next(SharedObject.toRef(root));
            child.other(Optional.of(root));
            root.children().add(child);
            root.byName().put("child" + i, child);
            root.byNumber().put(i, child);
        }
        return root;
    }

    private static Node node(Scope scope, String mark, int number) {
        Node node = scope.create(Node.class);
        node.id(number);
        node.kind(Echo.Kind.BOX);
        node.code("code" + number);
        node.title(mark + number);
        node.blob(new byte[] {1, 2, 3});
        node.text(SharedString.create(scope, mark + " text " + number));
        node.numbers(SharedIntList.create(scope));
        node.numbers().add(number);
        node.children(SharedList.create(scope, Node.class));
        node.byName(SharedStringMap.create(scope, Node.class));
        node.byNumber(SharedLongMap.create(scope, Node.class));
        return node;
    }
}
