package dev.rackcall.rpc.hostile;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.rpc.CallOptions;
import dev.rackcall.rpc.Isolation;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.contract.RpcFixture;
import dev.rackcall.rpc.hostile.Audit.Verdict;
import dev.rackcall.rpc.hostile.Catalogue.Node;
import dev.rackcall.sandbox.Seals;
import dev.rackcall.shm.Ref;
import dev.rackcall.shm.RefException;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.SealedScopeException;
import dev.rackcall.shm.types.SharedDataException;
import dev.rackcall.shm.types.SharedObject;
import dev.rackcall.shm.waiting.WaitStrategy;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.ConcurrentModificationException;
import java.util.EnumMap;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The time-of-check attack: a client keeps rewriting its argument, so that the handler checks one value and uses
 * another. In the safe modes the attack never succeeds; its success in the trusted mode proves that the attack works.
 * {@code -Drackcall.calls=1000000} sets the number of calls in each mode. Half of them have arguments in the arena that
 * all clients share. Caller and server sleep while they wait. On two processors they would otherwise slow the attacker
 * down and wait for each other's turn of the scheduler, which makes a call thirty times as long.
 */
@Timeout(3600)
class TimeOfCheckTest extends RpcFixture {
    private static final int QUICK = 1000;
    private static final int CALLS = Integer.getInteger("rackcall.calls", QUICK);
    private static final Duration LONGEST = Duration.ofSeconds(100);
    private static final int MOMENT = 20;
    private static final int LULL = 60;
    private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();
    private static final int NODES = 5;

    private final long seed = Long.getLong("rackcall.seed", System.nanoTime() & Integer.MAX_VALUE);
    private volatile boolean stop;
    /** The word that the attacker has changed and restores before it changes the next. */
    private Word word;

    /** Reads everything twice, with a pause between. */
    private static final class AuditService implements Audit {
        private static final int MOMENT = 300;
        private final CatalogueService reader = new CatalogueService();

        @Override
        public Verdict judge(Node root) {
            Verdict unreadable = Verdict.REFUSED;
            try {
                long checked = reader.walk(root);
                unreadable = Verdict.CHANGED;
                pause(MOMENT);
                return reader.walk(root) == checked ? Verdict.SAME : Verdict.CHANGED;
            } catch (RefException
                    | SharedDataException
                    | RpcException
                    | IndexOutOfBoundsException
                    | ConcurrentModificationException e) {
                return unreadable;
            }
        }
    }

    @ParameterizedTest
    @CsvSource({
        "SNAPSHOT, private",
        "SNAPSHOT, shared",
        "SEALED, private",
        "SEALED, shared",
        "AUTO, private",
        "AUTO, shared"
    })
    void shouldUseWhatItHasChecked(Isolation isolation, String arena) throws InterruptedException {
        Map<Verdict, Integer> verdicts = attack(isolation, arena.equals("shared"), CALLS / 2, null);
        assertThat(verdicts).as("seed %d", seed).doesNotContainKey(Verdict.CHANGED);
        if (CALLS > QUICK) {
            System.out.println("time of check: " + isolation + ", " + arena + " arena: " + verdicts);
        }
        assertThat(verdicts)
                .as("seed %d: the attack must not spoil every call", seed)
                .containsKey(Verdict.SAME);
    }

    @Test
    void shouldSucceedAgainstATrustingServer() throws InterruptedException {
        assertThat(attack(Isolation.TRUSTED, false, Integer.MAX_VALUE, Verdict.CHANGED))
                .as("seed %d: an attack that never succeeds shows nothing", seed)
                .containsKey(Verdict.CHANGED);
    }

    private Map<Verdict, Integer> attack(Isolation isolation, boolean shared, int calls, Verdict enough)
            throws InterruptedException {
        Map<Verdict, Integer> verdicts = new EnumMap<>(Verdict.class);
        try (RpcServer server = serving(Audit.class, new AuditService())
                        .minimumIsolation(isolation)
                        .waiting(WaitStrategy.blocking())
                        .start();
                RpcChannel channel =
                        channel(Audit.class).waiting(WaitStrategy.blocking()).open();
                Scope scope = shared ? channel.newSharedScope(16 << 10) : channel.newScope(16 << 10)) {
            Audit audit = channel.stub(Audit.class, CallOptions.DEFAULT.withIsolation(isolation));
            Node root = CatalogueService.build(scope, "text", NODES);
            long from = Ref.offset(SharedObject.refOf(root));
            MemorySegment graph = scope.arena().memory().asSlice(from, Ref.offset(scope.allocate(Long.BYTES)) - from);
            Thread attacker = Thread.ofPlatform()
                    .name("attacker")
                    .uncaughtExceptionHandler((thread, e) -> assertThat(e).isInstanceOf(InternalError.class))
                    .start(() -> attackWithoutEnd(graph));
            try {
                long end = System.nanoTime() + LONGEST.toNanos();
                for (int call = 0; call < calls && (enough == null || !verdicts.containsKey(enough)); call++) {
                    assertThat(enough == null || System.nanoTime() - end < 0)
                            .as("%s within %s, but only %s", enough, LONGEST, verdicts)
                            .isTrue();
                    verdicts.merge(judge(audit, root), 1, Integer::sum);
                }
                // An attacker that loses its processor in the middle of a change spoils every call until it has one
                // again.
                while (enough == null && !verdicts.containsKey(Verdict.SAME) && System.nanoTime() - end < 0) {
                    verdicts.merge(judge(audit, root), 1, Integer::sum);
                }
                assertThat(attacker.isAlive())
                        .as("the attack went on to the end")
                        .isTrue();
            } finally {
                stop = true;
                attacker.join();
            }
            assertThat(server.connections()).isEqualTo(1);
        }
        return verdicts;
    }

    private static Verdict judge(Audit audit, Node root) {
        try {
            return audit.judge(root);
        } catch (RpcException e) {
            assertThat(e.code())
                    .as(e.getMessage())
                    .isIn(Status.Code.INVALID_ARGUMENT, Status.Code.PERMISSION_DENIED, Status.Code.UNKNOWN);
            return Verdict.REFUSED;
        }
    }

    /** The error of a sealed page may arrive while the previous error is being handled. */
    private void attackWithoutEnd(MemorySegment graph) {
        Random random = new Random(seed);
        word = Word.of(graph, 0);
        while (!stop) {
            try {
                rewrite(graph, random);
            } catch (InternalError e) {
                Thread.onSpinWait();
            }
        }
    }

    /**
     * Changes and restores one word after the other, so the graph is valid most of the time. The error of a sealed page
     * may arrive some instructions late, so reading a word shows whether its store succeeded.
     */
    private void rewrite(MemorySegment graph, Random random) {
        long words = graph.byteSize() / Long.BYTES;
        while (!stop) {
            try {
                while (!stop && read(graph, word.at()) != word.sane()) {
                    store(graph, word.at(), word.sane());
                }
                // Leave the graph valid for a while: a call that is refused at once proves nothing and costs more.
                pause(random.nextInt(LULL));
                word = Word.of(graph, random.nextLong(words) * Long.BYTES);
                long other =
                        random.nextBoolean() ? word.sane() ^ (1L << random.nextInt(Long.SIZE)) : random.nextInt(64);
                store(graph, word.at(), other);
                pause(random.nextInt(MOMENT));
            } catch (InternalError e) {
                liftSeal(e);
            } catch (RuntimeException e) {
                Thread.onSpinWait();
            }
        }
    }

    private static void pause(int spins) {
        for (int i = spins; i > 0; i--) {
            Thread.onSpinWait();
        }
    }

    /** A seal whose call has ended stays until it is tested. A patient attacker tests it and stores at once. */
    private static void liftSeal(InternalError refused) {
        try {
            throw Seals.explain(refused);
        } catch (SealedScopeException | InternalError e) {
            Thread.onSpinWait();
        }
    }

    /** A word of the graph and its valid value. */
    private record Word(long at, long sane) {
        static Word of(MemorySegment graph, long at) {
            return new Word(at, read(graph, at));
        }
    }

    private static long read(MemorySegment graph, long at) {
        return (long) LONG.getOpaque(graph, at);
    }

    /** Opaque: a compiler may drop a plain store that the next store overwrites. */
    private static void store(MemorySegment graph, long at, long value) {
        LONG.setOpaque(graph, at, value);
    }
}
