package dev.rackcall.perf.peers;

import dev.rackcall.perf.calls.Graph;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * A {@link Graph} as ordinary objects: the same tree with the same texts, as in programs that pass arguments by value.
 * Hand-written code encodes it, in preorder: of each node its number (8 bytes), the length of its text (2), the text,
 * and the number of children that follow (2). That is shorter than an encoding with tags, and flatters gRPC.
 */
final class HeapGraph {
    private static final int MOST_BYTES_PER_NODE = 64;

    private long sequence;
    private final String text;
    private final List<HeapGraph> children = new ArrayList<>();

    private HeapGraph(long sequence, String text) {
        this.sequence = sequence;
        this.text = text;
    }

    /** A tree of this many nodes, in the shape of {@link Graph#build}. */
    static HeapGraph of(int nodes) {
        HeapGraph root = new HeapGraph(0, Graph.text(0));
        List<HeapGraph> level = root.children;
        for (int i = 1; i < nodes; i++) {
            HeapGraph child = new HeapGraph(i, Graph.text(i));
            level.add(child);
            if (level.size() == Graph.FAN_OUT) {
                level = child.children;
            }
        }
        return root;
    }

    long sequence() {
        return sequence;
    }

    void sequence(long value) {
        sequence = value;
    }

    /** Nodes, this one included. */
    int size() {
        return 1 + children.stream().mapToInt(HeapGraph::size).sum();
    }

    /** @param nodes how many it has: the buffer is allocated for them */
    byte[] encode(int nodes) {
        ByteBuffer out = ByteBuffer.allocate(nodes * MOST_BYTES_PER_NODE);
        write(out);
        return Arrays.copyOf(out.array(), out.position());
    }

    private void write(ByteBuffer out) {
        byte[] characters = text.getBytes(StandardCharsets.UTF_8);
        out.putLong(sequence).putShort((short) characters.length).put(characters);
        out.putShort((short) children.size());
        for (HeapGraph child : children) {
            child.write(out);
        }
    }

    static HeapGraph decode(byte[] bytes) {
        return read(ByteBuffer.wrap(bytes));
    }

    private static HeapGraph read(ByteBuffer in) {
        long sequence = in.getLong();
        byte[] characters = new byte[in.getShort()];
        in.get(characters);
        HeapGraph node = new HeapGraph(sequence, new String(characters, StandardCharsets.UTF_8));
        int count = in.getShort();
        for (int i = 0; i < count; i++) {
            node.children.add(read(in));
        }
        return node;
    }
}
