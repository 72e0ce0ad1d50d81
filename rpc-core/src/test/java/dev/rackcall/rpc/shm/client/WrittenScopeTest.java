package dev.rackcall.rpc.shm.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.rackcall.rpc.CallObserver;
import dev.rackcall.rpc.Isolation;
import dev.rackcall.rpc.Metadata;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.contract.Ledger;
import dev.rackcall.rpc.contract.Ledger.Account;
import dev.rackcall.rpc.contract.RpcFixture;
import dev.rackcall.rpc.shm.protocol.ControlLayout;
import dev.rackcall.rpc.shm.protocol.SlotLayout;
import dev.rackcall.rpc.spi.ServiceDefinition;
import dev.rackcall.shm.Ref;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.ScopeRuns;
import dev.rackcall.shm.types.SharedObject;
import dev.rackcall.testkit.Await;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A server that returns stores which no handler made: the client applies them inside the objects of the scope that the
 * call passed, if the method declares that it writes. All others end the call and change nothing.
 */
@Timeout(300)
class WrittenScopeTest extends RpcFixture {
    private static final ServiceDefinition<Ledger> LEDGER = ServiceDefinition.of(Ledger.class);
    private static final long RESULT = 7;
    private static final byte STORED = 0x5a;
    private static final int SCOPE_BYTES = 4096;
    /** Where an answer lies in the reply arena if it does not fit into its slot. */
    private static final int REPLY_AT = 4096;

    /** Index of the last of the two runs of the scope that is passed. */
    private static final int LAST = 1;

    private LyingServer server;
    private ShmClientConnection connection;
    private Ledger ledger;
    private Scope passed;
    private Account account;
    private StoreTargets targets;

    /** Where a server may aim: the runs of the passed scope, and an object of another scope. */
    private record StoreTargets(ScopeRuns runs, long other) {
        static StoreTargets of(Scope passed, long other) {
            ScopeRuns runs = new ScopeRuns();
            runs.read(passed.arena(), passed.firstRun());
            return new StoreTargets(runs, other);
        }

        long begin(int run) {
            return runs.ref(run) + runs.objectsAt(run) - Ref.offset(runs.ref(run));
        }

        long end(int run) {
            return begin(run) + runs.objectBytes(run);
        }

        /** The first object under the number of another arena. */
        long inArena(int id) {
            return Ref.of(id, Ref.generation(begin(0)), Ref.offset(begin(0)));
        }
    }

    /** Stores that a client must refuse, and words of the reason that it gives. */
    enum HostileStores {
        BEHIND_THE_FIRST_RUN("outside", at -> store(at.end(0), 1)),
        BEHIND_THE_LAST_RUN("outside", at -> store(at.end(LAST), 1)),
        ACROSS_THE_END_OF_THE_FIRST_RUN("outside", at -> store(at.end(0) - 1, 2)),
        ACROSS_THE_END_OF_THE_LAST_RUN("outside", at -> store(at.end(LAST) - 8, 9)),
        LAST_BYTE_OF_THE_HEADER("outside", at -> store(at.begin(0) - 1, 1)),
        ACROSS_THE_END_OF_THE_HEADER("outside", at -> store(at.begin(LAST) - 1, 2)),
        BEGIN_OF_THE_HEADER("outside", at -> store(at.runs().ref(0), 24)),
        ANOTHER_SCOPE("outside", at -> store(at.other(), 8)),
        NEGATIVE_LENGTH("outside", at -> store(at.begin(0), -1, 8)),
        LEAST_LENGTH("outside", at -> store(at.begin(0), Long.MIN_VALUE, 8)),
        NEGATIVE_LENGTH_BEHIND_THE_END("outside", at -> store(at.end(0) + 8, -8, 8)),
        LARGEST_LENGTH("outside", at -> store(at.begin(0), Long.MAX_VALUE, 8)),
        LENGTH_THAT_OVERFLOWS_IN_THE_RUN("outside", at -> store(at.end(0) - 8, Long.MAX_VALUE, 8)),
        LENGTH_THAT_OVERFLOWS_IN_THE_ARENA(
                "outside", at -> store(at.end(0) - 8, Long.MAX_VALUE - Ref.offset(at.end(0)) + 9, 8)),
        LENGTH_THAT_OVERFLOWS_AN_INT("outside", at -> store(at.begin(0), (1L << Integer.SIZE) + 8, 8)),
        LENGTH_OF_THE_LARGEST_ARENA("outside", at -> store(at.begin(0), Ref.MAX_OFFSET, 8)),
        LARGEST_OFFSET("outside", at -> store(at.begin(0) | Ref.MAX_OFFSET, 8)),
        NULL("outside", at -> store(Ref.NULL, 8)),
        REPLY_ARENA("outside", at -> store(at.inArena(LyingServer.REPLY_ID), 8)),
        SHARED_ARENA("outside", at -> store(at.inArena(LyingServer.SHARED_ID), 8)),
        UNKNOWN_ARENA("outside", at -> store(at.inArena(0xffff), 8)),
        ANOTHER_GENERATION("outside", at -> store(at.begin(0) ^ 1L << Ref.OFFSET_BITS, 8)),
        LONGER_THAN_THE_PAYLOAD("bytes expected, but", at -> store(at.begin(LAST), 2000, 8)),
        COUNT_LARGER_THAN_THE_PAYLOAD("a count says", at -> count(2, store(at.begin(0), 8))),
        LARGEST_COUNT("a count says", at -> count(Integer.MAX_VALUE, store(at.begin(0), 8))),
        NEGATIVE_COUNT("a count says", at -> count(-1, store(at.begin(0), 8))),
        NO_COUNT("expected, but", at -> new byte[2]);

        private final String reason;
        private final Function<StoreTargets, byte[]> stores;

        HostileStores(String reason, Function<StoreTargets, byte[]> stores) {
            this.reason = reason;
            this.stores = stores;
        }
    }

    /** Stores that reach the limits of what a server may store. */
    enum AllowedStores {
        FIRST_BYTE(at -> store(at.begin(0), 1)),
        LAST_BYTE(at -> store(at.end(LAST) - 1, 1)),
        ALL_OF_A_RUN(at -> store(at.begin(LAST), (int) at.runs().objectBytes(LAST))),
        NOTHING(at -> count(0, new byte[Integer.BYTES]));

        private final Function<StoreTargets, byte[]> stores;

        AllowedStores(Function<StoreTargets, byte[]> stores) {
            this.stores = stores;
        }
    }

    // ---- what the server answers

    /** One store, encoded as {@code ServerResponse} does. */
    private static byte[] store(long ref, int length) {
        return store(ref, length, length);
    }

    private static byte[] store(long ref, long length, int given) {
        byte[] stores = new byte[Integer.BYTES + 2 * Long.BYTES + given];
        Arrays.fill(stores, STORED);
        littleEndian(stores).putInt(1).putLong(ref).putLong(length);
        return stores;
    }

    private static byte[] count(int count, byte[] stores) {
        littleEndian(stores).putInt(count);
        return stores;
    }

    private static byte[] both(byte[] first, byte[] second) {
        int more = second.length - Integer.BYTES;
        byte[] stores = Arrays.copyOf(first, first.length + more);
        System.arraycopy(second, Integer.BYTES, stores, first.length, more);
        return count(2, stores);
    }

    private static byte[] withResult(byte[] stores) {
        byte[] payload = Arrays.copyOf(stores, stores.length + Long.BYTES);
        littleEndian(payload).putLong(stores.length, RESULT);
        return payload;
    }

    private static ByteBuffer littleEndian(byte[] bytes) {
        return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    }

    private static LyingServer.Answer answer(byte[] payload) {
        return (ticket, slot, memory) -> {
            if (payload.length <= SlotLayout.RESPONSE_INLINE_BYTES) {
                put(payload, memory, slot + SlotLayout.RESPONSE_INLINE);
                SlotLayout.publishResponse(memory, slot, SlotLayout.word(ticket, 0, SlotLayout.STORES, payload.length));
            } else {
                put(payload, memory, ControlLayout.controlBytes(LyingServer.SLOTS) + LyingServer.QUOTA + REPLY_AT);
                SlotLayout.responseOutside(memory, slot, payload.length, Ref.of(LyingServer.REPLY_ID, 0, REPLY_AT));
                SlotLayout.publishResponse(
                        memory, slot, SlotLayout.word(ticket, 0, SlotLayout.STORES | SlotLayout.OUTSIDE, 0));
            }
        };
    }

    private static void put(byte[] payload, MemorySegment memory, long at) {
        MemorySegment.copy(payload, 0, memory, ValueLayout.JAVA_BYTE, at, payload.length);
    }

    private void returns(byte[] stores) {
        server.answer(answer(withResult(stores)));
    }

    // ---- what the client has

    @BeforeEach
    void connect() throws IOException {
        server = keep(new LyingServer(directory, LEDGER));
        connection = keep(LyingServer.connect(LEDGER.channel(), directory, Await.BOUND));
        connection.use(LEDGER);
        ledger = ledger(Isolation.SNAPSHOT);
        passed = connection.newScope(SCOPE_BYTES);
        account = passed.create(Account.class);
        // In a run of its own.
        passed.allocate(3 * SCOPE_BYTES);
        Account other = connection.newScope(SCOPE_BYTES).create(Account.class);
        targets = StoreTargets.of(passed, SharedObject.refOf(other));
        assertThat(targets.runs().count()).isEqualTo(LAST + 1);
    }

    @AfterEach
    void assertServerHasNotFailed() {
        assertThat(server.failure()).isEmpty();
    }

    private Ledger ledger(Isolation isolation) {
        return LEDGER.stub(method -> connection.begin(method, 0, Metadata.EMPTY, isolation, CallObserver.NONE));
    }

    /** All scopes of the client, with their headers and with what lies between them. */
    private MemorySegment memory() {
        return connection.arenas.requestArena().memory();
    }

    private MemorySegment remember() {
        return MemorySegment.ofArray(memory().toArray(ValueLayout.JAVA_BYTE));
    }

    private void assertChangedNothingSince(MemorySegment before) {
        assertThat(memory().mismatch(before)).as("offset of a changed byte").isEqualTo(-1);
    }

    private long balanceRef() {
        long mark = 0x1234_5678_9abc_def1L;
        account.balance(mark);
        long at = targets.begin(0);
        while (memory().get(ValueLayout.JAVA_LONG_UNALIGNED, Ref.offset(at)) != mark) {
            at++;
            assertThat(at).isLessThan(targets.end(0));
        }
        account.balance(0);
        return at;
    }

    /** A call whose handler stores what it may. */
    private void assertHonestCallWorks() {
        account.balance(0);
        returns(store(balanceRef(), Long.BYTES));
        assertThat(ledger.deposit(account, 1)).isEqualTo(RESULT);
        assertThat(account.balance()).isEqualTo(0x5a5a_5a5a_5a5a_5a5aL);
    }

    /** Afterwards each slot has had a call that wrote. */
    private void writeWithEachSlot() {
        returns(store(targets.begin(LAST), 1));
        for (int i = 0; i < LyingServer.SLOTS; i++) {
            assertThat(ledger.deposit(account, 1)).isEqualTo(RESULT);
        }
    }

    // ---- inside of the scope

    @ParameterizedTest
    @EnumSource(names = {"TRUSTED", "SNAPSHOT", "SEALED", "AUTO"})
    void shouldApplyAStoreIntoThePassedObject(Isolation isolation) {
        ledger = ledger(isolation);
        MemorySegment before = remember();
        assertHonestCallWorks();
        account.balance(0);
        assertChangedNothingSince(before);
    }

    @ParameterizedTest
    @EnumSource
    void shouldApplyStoresUpToTheLimitsOfTheScopesObjects(AllowedStores allowed) {
        MemorySegment expected = remember();
        byte[] stores = allowed.stores.apply(targets);
        if (stores.length > Integer.BYTES) {
            ByteBuffer encoded = littleEndian(stores);
            long offset = Ref.offset(encoded.getLong(Integer.BYTES));
            expected.asSlice(offset, encoded.getLong(Integer.BYTES + Long.BYTES))
                    .fill(STORED);
        }
        returns(stores);
        assertThat(ledger.deposit(account, 1)).isEqualTo(RESULT);
        assertChangedNothingSince(expected);
    }

    // ---- outside of it

    @ParameterizedTest
    @EnumSource
    void shouldEndTheCallAndStoreNothing(HostileStores hostile) {
        MemorySegment before = remember();
        byte[] stores = hostile.stores.apply(targets);
        server.answer(answer(stores.length < Integer.BYTES ? stores : withResult(stores)));
        assertFails(Status.Code.INTERNAL, () -> ledger.deposit(account, 1))
                .hasMessageContainingAll("/test/ledger/deposit", hostile.reason, "broken or hostile");
        assertChangedNothingSince(before);
        assertHonestCallWorks();
    }

    @Test
    void shouldFailTheFutureAndStoreNothing() {
        MemorySegment before = remember();
        returns(store(targets.other(), 8));
        CompletableFuture<Long> future = ledger.depositLater(account, 1);
        assertThatThrownBy(future::join)
                .isInstanceOf(CompletionException.class)
                .hasMessageContainingAll("INTERNAL", "/test/ledger/depositLater", "outside the scope that was passed");
        assertChangedNothingSince(before);
        assertHonestCallWorks();
    }

    @Test
    void shouldEndTheCallAtTheFirstStoreThatIsOutside() {
        MemorySegment expected = remember();
        expected.asSlice(Ref.offset(targets.begin(LAST)), 8).fill(STORED);
        returns(both(store(targets.begin(LAST), 8), store(targets.other(), 8)));
        assertFails(Status.Code.INTERNAL, () -> ledger.deposit(account, 1)).hasMessageContaining("outside");
        assertChangedNothingSince(expected);
        assertHonestCallWorks();
    }

    // ---- without a scope to store in

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldStoreNothingForAMethodThatDoesNotWrite(boolean slotHasWritten) {
        if (slotHasWritten) {
            writeWithEachSlot();
        }
        MemorySegment before = remember();
        returns(store(targets.begin(0), 8));
        assertFails(Status.Code.INTERNAL, () -> ledger.balance(account))
                .hasMessageContainingAll("/test/ledger/balance", "stores, ", "broken or hostile");
        assertChangedNothingSince(before);
        assertHonestCallWorks();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldStoreNothingForACallThatPassesNoScope(boolean slotHasWritten) {
        if (slotHasWritten) {
            writeWithEachSlot();
        }
        MemorySegment before = remember();
        returns(store(targets.begin(0), 8));
        assertFails(Status.Code.INTERNAL, () -> ledger.depositEach(List.of(), 1))
                .hasMessageContainingAll("/test/ledger/depositEach", "stores, ", "broken or hostile");
        assertChangedNothingSince(before);
        assertHonestCallWorks();
    }

    /** The caller may use the memory again before the answer comes. */
    @Test
    void shouldStoreNothingIntoTheScopeThatHasTakenThePlaceOfAClosedOne() {
        CountDownLatch reused = new CountDownLatch(1);
        LyingServer.Answer late = answer(withResult(store(targets.begin(0), 8)));
        server.answer((ticket, slot, memory) -> {
            Await.latch(reused);
            late.to(ticket, slot, memory);
        });
        CompletableFuture<Long> future = ledger.depositLater(account, 1);
        passed.close();
        passed = connection.newScope(SCOPE_BYTES);
        account = passed.create(Account.class);
        assertThat(Ref.offset(passed.firstRun()))
                .isEqualTo(Ref.offset(targets.runs().ref(0)));
        MemorySegment before = remember();
        reused.countDown();
        assertThat(future.join()).isEqualTo(RESULT);
        assertChangedNothingSince(before);
    }
}
