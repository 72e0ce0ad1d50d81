package dev.rackcall.lock;

import static dev.rackcall.testkit.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.rackcall.verbs.MemoryRegion;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/**
 * An open unlock, one step at a time: the test decides when its answer comes, and the finisher's thread does not run.
 */
@SuppressWarnings("LockNotBeforeTry")
class OpenUnlockTest {
    private static final int DESCRIPTORS = 8;
    private static final long TAIL = LockLayout.lock(DESCRIPTORS, 0) + LockLayout.REMOTE_TAIL;
    private static final long FOLLOWER = LockLayout.reference(0, 2 * DESCRIPTORS);
    private static final long ITS_STATE = LockLayout.descriptorOf(FOLLOWER) + LockLayout.STATE;

    private final MemorySegment memory = Arena.ofAuto().allocate(LockTable.bytes(DESCRIPTORS, 2), 64);
    private final LockTable table = LockTable.create(memory, DESCRIPTORS, 2);
    private final LockWords words = new ProcessorWords(memory);
    private final LockFinisher finisher = new LockFinisher(new LockWait(true));
    private final LateWords late = new LateWords();
    private final LockSession session = session(late);
    private final LockSession other = session(new LateWords());

    /** Words whose later compare-and-set takes effect at once. */
    private final class LateWords implements InvocationHandler {
        private final Map<String, Runnable> before = new HashMap<>();
        private final Map<String, Runnable> after = new HashMap<>();
        private boolean answered;
        private long found;

        LaterWords asWords() {
            return (LaterWords)
                    Proxy.newProxyInstance(LaterWords.class.getClassLoader(), new Class<?>[] {LaterWords.class}, this);
        }

        @Override
        public Object invoke(Object proxy, Method method, Object[] arguments) throws ReflectiveOperationException {
            String name = method.getName();
            before.getOrDefault(name, () -> {}).run();
            Object result = switch (name) {
                case "isRemote" -> true;
                case "swapLater" -> {
                    found = words.compareAndSwap((long) arguments[0], (long) arguments[1], (long) arguments[2]);
                    yield found;
                }
                case "isAnswered" -> answered;
                case "answer" -> found;
                default -> method.invoke(words, arguments);
            };
            after.getOrDefault(name, () -> {}).run();
            return result;
        }
    }

    private LockSession session(LateWords late) {
        LaterWords its = late.asWords();
        return LockTable.session(its, new LockWait(true), 1, LockTable.REMOTE_BUDGET, table.sizes())
                .finishedBy(finisher, its);
    }

    /** Leaves lock 0 while a follower has entered and not linked itself. Returns where the follower links itself. */
    private long unlockBeforeFollower() {
        ALock lock = session.lock(0);
        lock.lock();
        long link = LockLayout.descriptorOf(words.load(TAIL)) + LockLayout.NEXT;
        words.store(ITS_STATE, LockLayout.state(0, 0, LockLayout.WAITING));
        words.store(TAIL, FOLLOWER);
        lock.unlock();
        return link;
    }

    private void assertFollowerHasTheLock() {
        assertThat(LockLayout.kind(words.load(ITS_STATE))).as("his state").isEqualTo(LockLayout.HEAD);
        assertThat(words.load(TAIL)).as("the last in the queue").isEqualTo(FOLLOWER);
    }

    @Test
    void shouldBeOpenForTheFinisherWhileItsThreadLooksFromAnotherSession() {
        ALock left = session.lock(0);
        left.lock();
        left.unlock();
        List<Boolean> found = new ArrayList<>();
        late.before.put("isAnswered", () -> found.add(finisher.finish()));
        other.lock(1).lock();
        // Otherwise the finisher would sleep or end beside an open unlock.
        assertThat(found).as("whether something is open").containsExactly(true);
        late.before.clear();
        late.answered = true;
        assertThat(finisher.finish()).isTrue();
        assertThat(finisher.finish()).isFalse();
    }

    @Test
    void shouldNotHandOverTwiceWhenThatFailsHalfWay() {
        words.store(unlockBeforeFollower(), FOLLOWER);
        late.after.put("grant", () -> {
            throw new UnsupportedOperationException("planted");
        });
        assertThatThrownBy(session.lock(1)::lock).hasMessage("planted");
        late.after.clear();
        assertThatThrownBy(session.lock(0)::lock)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("lost")
                .hasRootCauseMessage("planted");
        assertFollowerHasTheLock();
    }

    @Test
    void shouldLoseOneSessionByAnErrorOfTheFinisher() {
        words.store(unlockBeforeFollower(), FOLLOWER);
        late.answered = true;
        late.after.put("grant", () -> {
            throw new LinkageError("planted");
        });
        assertThat(finisher.finish()).isTrue();
        assertThrown(LockConnectionException.class, session.lock(0)::lock, "planted");
        assertFollowerHasTheLock();
        assertThat(other.lock(1).tryLock()).isTrue();
    }

    /** A thread that closes the session of an ended thread, and learns that a lock is held, unlocks it first. */
    @Test
    void shouldBeWaitedForIfTheFinisherHasForgottenTheSession() throws InterruptedException {
        ALock lock = session.lock(0);
        Thread user = Thread.ofPlatform().start(lock::lock);
        user.join();
        assertThat(finisher.sessions()).isEqualTo(2);
        finisher.finish();
        assertThat(finisher.sessions()).isEqualTo(1);
        assertThatThrownBy(session::close).hasMessageContaining("is held");
        long link = LockLayout.descriptorOf(words.load(TAIL)) + LockLayout.NEXT;
        Runnable follow = () -> {
            late.before.clear();
            words.store(ITS_STATE, LockLayout.state(0, 0, LockLayout.WAITING));
            words.store(TAIL, FOLLOWER);
            words.store(link, FOLLOWER);
        };
        late.before.put("swapLater", follow);
        late.before.put("compareAndSwap", follow);
        lock.unlock();
        assertFollowerHasTheLock();
        session.close();
    }

    @Test
    void shouldKeepAnInterruptForTheCallOfTheOtherSession() {
        long link = unlockBeforeFollower();
        late.answered = true;
        late.before.put("load", () -> {
            // Once the wait for the link has seen the interrupt.
            if (!Thread.currentThread().isInterrupted()) {
                words.store(link, FOLLOWER);
            }
        });
        Thread.currentThread().interrupt();
        other.lock(1).lock();
        assertThat(Thread.interrupted()).isTrue();
    }

    @Test
    void shouldForgetSessionsWhoseThreadHasEnded() throws InterruptedException {
        int before = finisher.sessions();
        LateWords its = new LateWords();
        LockSession left = session(its);
        Thread user = new Thread(() -> {
            ALock lock = left.lock(0);
            lock.lock();
            lock.unlock();
        });
        user.start();
        user.join();
        assertThat(finisher.finish()).isTrue();
        assertThat(finisher.sessions()).as("while its unlock is open").isEqualTo(before + 1);
        its.answered = true;
        assertThat(finisher.finish()).isTrue();
        assertThat(finisher.finish()).isFalse();
        assertThat(finisher.sessions()).isEqualTo(before);
    }

    @Test
    void shouldRefuseScratchMemoryThatTheFinisherMayNotUse() {
        try (LockHome home = new LockHome(memory);
                Arena confined = Arena.ofConfined()) {
            RemoteTable link = home.newLink();
            MemoryRegion scratch = (MemoryRegion) Proxy.newProxyInstance(
                    MemoryRegion.class.getClassLoader(),
                    new Class<?>[] {MemoryRegion.class},
                    (proxy, method, arguments) -> method.getName().equals("memory")
                            ? confined.allocate(LockTable.SCRATCH_BYTES, 64)
                            : method.invoke(link.scratch(), arguments));
            RemoteTable its =
                    new RemoteTable(link.queuePair(), link.completions(), scratch, link.address(), link.key());
            assertThrown(
                    IllegalArgumentException.class,
                    () -> LockTable.remoteSession(its.withFinisher(finisher), 1),
                    "lock-finisher");
            assertThrown(
                    IllegalArgumentException.class,
                    () -> LockTable.remoteSession(
                            its.withBell(new LockBell(0, home.region(), 8), LockPeers.create())
                                    .withFinisher(finisher),
                            1),
                    "lock-finisher");
        }
    }
}
