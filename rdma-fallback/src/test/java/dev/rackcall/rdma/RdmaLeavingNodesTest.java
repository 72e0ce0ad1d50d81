package dev.rackcall.rdma;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.contract.Library.Page;
import dev.rackcall.rpc.shm.server.ArenaNumbers;
import dev.rackcall.shm.Ref;
import dev.rackcall.shm.types.SharedObject;
import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.Usage;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Nodes come and go while another node reads their objects. */
class RdmaLeavingNodesTest extends ShelfNodes {
    RdmaLeavingNodesTest() {
        super("127.0.0.14", channel -> channel);
    }

    private RpcChannel open(long quota) {
        return channelTo(server).arenaQuota(quota).open();
    }

    /** What is held of former nodes is given back; a flyweight on it may read on for a while. */
    @Test
    void shouldHoldNothingForGoodOfNodesThatHaveLeft() {
        List<Page> found = new ArrayList<>();
        for (int round = 0; round < 12; round++) {
            try (RpcChannel node = open(8 << 20)) {
                List<Page> pages = chain(node.newSharedScope(), 10, round);
                node.stub(Shelf.class).put(round, pages.getFirst());
                found.add(read.get(round));
                assertThat(ShelfService.numbers(found.getLast(), 10)).isEqualTo(numbers(round, 10));
            }
            Await.until("the reader has heard", () -> isGoneAtAll(found.getLast()));
        }
        Await.equal("descriptors of held memory", 0L, () -> Usage.descriptors("rackcall-held"));
        Await.until("few of them are kept", () -> Usage.mappings("rackcall-held") <= 8);
        assertFails(Status.Code.INVALID_ARGUMENT, () -> read.read(found.getFirst(), 1));
        reader.close();
        writer.close();
        Await.equal("mappings of held memory", 0L, () -> Usage.mappings("rackcall-held"));
    }

    /** A node may get the arena number of a former node, with another quota. */
    @Test
    void shouldReadANodeThatHasGotTheNumberOfOneThatLeft() {
        int number = readNumberOfANode(8 << 20, 0);
        Await.until("its number is free", () -> ArenaNumbers.passTo(number));
        assertThat(readNumberOfANode(2 << 20, 500)).isEqualTo(number);
    }

    /** Reads what a node has put; returns the number of its arena. */
    private int readNumberOfANode(long quota, long from) {
        try (RpcChannel node = open(quota)) {
            List<Page> pages = chain(node.newSharedScope(), 10, from);
            node.stub(Shelf.class).put(1, pages.getFirst());
            Page found = read.get(1);
            assertThat(ShelfService.numbers(found, 10)).isEqualTo(numbers(from, 10));
            return Ref.arenaId(SharedObject.refOf(found));
        }
    }
}
