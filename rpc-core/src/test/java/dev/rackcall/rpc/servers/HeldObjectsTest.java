package dev.rackcall.rpc.servers;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.contract.Echo;
import dev.rackcall.rpc.contract.EchoService;
import dev.rackcall.rpc.contract.Library;
import dev.rackcall.rpc.contract.LibraryService;
import dev.rackcall.rpc.contract.RpcFixture;
import dev.rackcall.shm.Scope;
import dev.rackcall.testkit.Await;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A channel that leaves a server keeps that server's results and its scopes there, as long as they are in use. */
class HeldObjectsTest extends RpcFixture {
    private RpcServer left;
    private RpcChannel channel;
    private Library library;

    @BeforeEach
    void start() {
        left = serve(Library.class, new LibraryService());
        channel = open(Library.class);
        library = channel.stub(Library.class);
    }

    private Echo leaveByASecondStub() {
        serve(serving(Library.class, new LibraryService()).service(Echo.class, new EchoService()));
        Await.equal("routes", 2, () -> channel.routes().size());
        Echo echo = channel.stub(Echo.class);
        Await.equal("routes", 1, () -> channel.routes().size());
        return echo;
    }

    private void awaitLeft() {
        Await.equal("connections to the server that was left", 0, left::connections);
    }

    @Test
    void shouldKeepAResultOfAServerThatItLeavesUntilItIsReleased() {
        Library.Book held = library.write("held", 1);
        assertThat(leaveByASecondStub().add(1, 2)).isEqualTo(3);
        assertThat(held.title()).isEqualTo("held");
        assertThat(left.connections()).isEqualTo(1);
        channel.release(held);
        awaitLeft();
    }

    @Test
    void shouldKeepAScopeAtAServerThatItLeavesUntilItIsClosed() {
        try (Scope scope = channel.newScope()) {
            Library.Book own = LibraryService.fill(scope, "own", 1);
            assertThat(leaveByASecondStub().add(1, 2)).isEqualTo(3);
            own.title("changed");
            assertThat(own.title()).isEqualTo("changed");
            assertThat(left.connections()).isEqualTo(1);
        }
        awaitLeft();
    }

    @Test
    void shouldLeaveAServerAtOnceIfNothingIsHeldThere() {
        library.write("released", 1).close();
        assertThat(leaveByASecondStub().add(1, 2)).isEqualTo(3);
        awaitLeft();
    }
}
