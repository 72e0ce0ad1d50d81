package dev.rackcall.rpc.servers;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.rpc.Rpc;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.RpcService;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.contract.Echo;
import dev.rackcall.rpc.contract.EchoService;
import dev.rackcall.rpc.contract.RpcFixture;
import dev.rackcall.shm.pool.TwoHosts;
import dev.rackcall.testkit.Await;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** One channel, and one connection, for all services of a server. */
@Timeout(200)
class OneConnectionTest extends RpcFixture {
    private static final Duration BOUND = Duration.ofSeconds(100);

    /** Travels by Kryo, since it is not a record. */
    static final class Pear {
        private final int grams;

        Pear(int grams) {
            this.grams = grams;
        }
    }

    /** Travels by Kryo, too, and is known to the other service only. */
    static final class Nail {
        private final String length;

        Nail(String length) {
            this.length = length;
        }
    }

    /** Sells pears. */
    @RpcService(value = "/one/grocer", registered = Pear.class)
    interface Grocer {
        @Rpc
        int weigh(Pear pear);

        @Rpc
        CompletableFuture<Pear> pick(int grams);

        @Rpc
        Stream<Pear> pears(int count);
    }

    /** Sells nails. */
    @RpcService(value = "/one/smith", registered = Nail.class)
    interface Smith {
        @Rpc
        String measure(Nail nail);

        @Rpc
        CompletableFuture<Nail> forge(String length);

        @Rpc
        Stream<Nail> nails(int count);
    }

    private static final class Shop implements Grocer, Smith {
        @Override
        public int weigh(Pear pear) {
            return pear.grams;
        }

        @Override
        public CompletableFuture<Pear> pick(int grams) {
            return CompletableFuture.supplyAsync(() -> new Pear(grams));
        }

        @Override
        public Stream<Pear> pears(int count) {
            return IntStream.range(0, count).mapToObj(Pear::new);
        }

        @Override
        public String measure(Nail nail) {
            return nail.length;
        }

        @Override
        public CompletableFuture<Nail> forge(String length) {
            return CompletableFuture.supplyAsync(() -> new Nail(length));
        }

        @Override
        public Stream<Nail> nails(int count) {
            return IntStream.range(0, count).mapToObj(each -> new Nail("n" + each));
        }
    }

    private final Shop shop = new Shop();

    private RpcServer.Builder both() {
        return RpcServer.builder()
                .service(Grocer.class, shop)
                .service(Smith.class, shop)
                .runtimeFolder(directory);
    }

    private static void useBoth(Grocer grocer, Smith smith) {
        for (int i = 0; i < 20; i++) {
            assertThat(grocer.weigh(new Pear(i))).isEqualTo(i);
            assertThat(smith.measure(new Nail("long " + i))).isEqualTo("long " + i);
        }
        List<CompletableFuture<Pear>> pears = new ArrayList<>();
        List<CompletableFuture<Nail>> nails = new ArrayList<>();
        // More than there are slots.
        for (int i = 0; i < 30; i++) {
            pears.add(grocer.pick(i));
            nails.add(smith.forge("f" + i));
        }
        for (int i = 0; i < 30; i++) {
            assertThat(pears.get(i)).succeedsWithin(BOUND);
            assertThat(pears.get(i).join().grams).isEqualTo(i);
            assertThat(nails.get(i)).succeedsWithin(BOUND);
            assertThat(nails.get(i).join().length).isEqualTo("f" + i);
        }
        try (Stream<Pear> some = grocer.pears(500);
                Stream<Nail> others = smith.nails(500)) {
            var nail = others.iterator();
            some.forEach(pear -> assertThat(nail.next().length).isEqualTo("n" + pear.grams));
            assertThat(nail.hasNext()).isFalse();
        }
    }

    @Test
    void shouldCallAllServicesOfAServerOverOneConnection() {
        RpcServer server = serve(both());
        RpcChannel channel = open(channel(Grocer.class).slots(4));
        Grocer grocer = channel.stub(Grocer.class, within(BOUND));
        Smith smith = channel.stub(Smith.class, within(BOUND));
        useBoth(grocer, smith);
        useBoth(channel.stub(Grocer.class), channel.stub(Smith.class));
        assertThat(server.connections()).isEqualTo(1);
    }

    @Test
    void shouldCallAllServicesOfAServerOfAPool() {
        TwoHosts hosts = keep(TwoHosts.create());
        RpcServer server = serve(RpcServer.builder()
                .service(Grocer.class, shop)
                .service(Smith.class, shop)
                .pool(hosts.first()));
        RpcChannel channel =
                open(RpcChannel.builder("/one/smith").pool(hosts.second()).slots(4));
        useBoth(channel.stub(Grocer.class, within(BOUND)), channel.stub(Smith.class, within(BOUND)));
        assertThat(server.connections()).isEqualTo(1);
    }

    @Test
    void shouldCallAllServicesOfSeveralServers() {
        RpcServer first = serve(both());
        RpcServer second = serve(both());
        RpcChannel channel = open(channel(Smith.class).slots(4));
        Grocer grocer = channel.stub(Grocer.class, within(BOUND));
        Smith smith = channel.stub(Smith.class, within(BOUND));
        Await.equal("connections", List.of(1, 1), () -> List.of(first.connections(), second.connections()));
        Await.equal("routes", 2, () -> channel.routes().size());
        useBoth(grocer, smith);
        first.close();
        useBoth(grocer, smith);
        RpcServer third = serve(both());
        Await.equal("connections", 1, third::connections);
        useBoth(grocer, smith);
    }

    @Test
    void shouldKeepItsStubsWhenTheServerComesBack() {
        RpcServer first = serve(both());
        RpcChannel channel = open(channel(Grocer.class).slots(4));
        Grocer grocer = channel.stub(Grocer.class, within(BOUND));
        Smith smith = channel.stub(Smith.class, within(BOUND));
        assertThat(smith.measure(new Nail("before"))).isEqualTo("before");
        first.close();
        RpcServer second = serve(both());
        assertThat(smith.measure(new Nail("after"))).isEqualTo("after");
        useBoth(grocer, smith);
        // The search for servers may have connected, too, and then closes what is one too many.
        Await.equal("connections", 1, second::connections);
    }

    @Test
    void shouldSayWhichChannelToOpenIfTheServerHasItNot() {
        serve(both());
        serve(Echo.class, new EchoService());
        RpcChannel channel = open(Grocer.class);
        assertFails(Status.Code.FAILED_PRECONDITION, () -> channel.stub(Echo.class))
                .hasMessageContainingAll("channel /one/grocer serves", "or open /test/echo");
        assertThat(channel.stub(Smith.class).measure(new Nail("it goes on"))).isEqualTo("it goes on");
    }

    @Test
    void shouldHeedTheAccessListOfEachChannel() {
        RpcServer server = serve(both().allowUsers(Smith.class, 4711));
        RpcChannel channel = open(Grocer.class);
        assertFails(Status.Code.PERMISSION_DENIED, () -> channel.stub(Smith.class))
                .hasMessageContaining("channel /one/smith is served for the users on its access list");
        assertThat(channel.stub(Grocer.class).weigh(new Pear(3))).isEqualTo(3);
        assertThat(server.connections()).isEqualTo(1);
    }
}
