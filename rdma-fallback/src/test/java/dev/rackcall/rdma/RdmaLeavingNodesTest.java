package dev.rackcall.rdma;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.contract.Library.Page;
import dev.rackcall.rpc.shm.server.ArenaNumbers;
import dev.rackcall.shm.Ref;
import dev.rackcall.shm.types.SharedObject;
import dev.rackcall.testkit.Await;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Nodes come and go while another node reads their objects. */
@Timeout(60)
class RdmaLeavingNodesTest {
    private RpcServer server;
    private RpcChannel reader;
    private Shelf read;

    @BeforeEach
    void start() {
        server = RpcServer.builder()
                .directory(OwnDirectory.path())
                .service(Shelf.class, new ShelfService())
                .listen(URI.create("rdma://127.0.0.14:0"))
                .start();
        reader = open(8 << 20);
        read = reader.stub(Shelf.class);
    }

    @AfterEach
    void stop() {
        reader.close();
        server.close();
    }

    private RpcChannel open(long quota) {
        return ShelfNodes.channelTo(server).arenaQuota(quota).open();
    }

    private static long mappingsOfHeldMemory() {
        try (Stream<String> maps = Files.lines(Path.of("/proc/self/maps"))) {
            return maps.filter(line -> line.contains("rackcall-held")).count();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static long descriptorsOfHeldMemory() {
        try (Stream<Path> open = Files.list(Path.of("/proc/self/fd"))) {
            return open.filter(RdmaLeavingNodesTest::isOfHeldMemory).count();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static boolean isOfHeldMemory(Path descriptor) {
        try {
            return Files.readSymbolicLink(descriptor).toString().contains("rackcall-held");
        } catch (IOException e) {
            // Closed since it was listed.
            return false;
        }
    }

    /** What is held of former nodes is given back; a flyweight on it may read on for a while. */
    @Test
    void shouldHoldNothingForGoodOfNodesThatHaveLeft() {
        List<Page> found = new ArrayList<>();
        for (int round = 0; round < 12; round++) {
            try (RpcChannel node = open(8 << 20)) {
                List<Page> pages = ShelfNodes.chain(node.newSharedScope(), 10, round);
                node.stub(Shelf.class).put(round, pages.getFirst());
                found.add(read.get(round));
                assertThat(ShelfService.numbers(found.getLast(), 10)).isEqualTo(ShelfNodes.numbers(round, 10));
            }
            Await.until("the reader has heard", () -> ShelfNodes.isGoneAtAll(found.getLast()));
        }
        Await.equal("descriptors of held memory", 0L, RdmaLeavingNodesTest::descriptorsOfHeldMemory);
        Await.until("few of them are kept", () -> mappingsOfHeldMemory() <= 8);
        RpcException gone = catchThrowableOfType(RpcException.class, () -> read.read(found.getFirst(), 1));
        assertThat(gone.code()).isEqualTo(Status.Code.INVALID_ARGUMENT);
        reader.close();
        Await.equal("mappings of held memory", 0L, RdmaLeavingNodesTest::mappingsOfHeldMemory);
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
            List<Page> pages = ShelfNodes.chain(node.newSharedScope(), 10, from);
            node.stub(Shelf.class).put(1, pages.getFirst());
            Page found = read.get(1);
            assertThat(ShelfService.numbers(found, 10)).isEqualTo(ShelfNodes.numbers(from, 10));
            return Ref.arenaId(SharedObject.refOf(found));
        }
    }
}
