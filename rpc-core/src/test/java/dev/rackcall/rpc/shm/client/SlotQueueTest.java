package dev.rackcall.rpc.shm.client;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class SlotQueueTest {
    private final SlotQueue queue = new SlotQueue();

    @Test
    void shouldWakeWaitersInOrderOfArrival() {
        SlotQueue.Waiter first = queue.enter(0);
        SlotQueue.Waiter second = queue.enter(0);
        queue.open(first);

        queue.left();

        assertThat(queue.isFirst(first)).isTrue();
        assertThat(first.isWoken()).isTrue();
        assertThat(second.isWoken()).isFalse();
        queue.leave(first);
        assertThat(queue.isFirst(second)).isTrue();
        assertThat(second.isWoken()).isTrue();
    }

    @Test
    void shouldLetOneThatGivesUpLeaveFromTheMiddle() {
        SlotQueue.Waiter first = queue.enter(0);
        SlotQueue.Waiter second = queue.enter(0);
        SlotQueue.Waiter third = queue.enter(0);

        queue.leave(second);
        queue.leave(first);

        assertThat(queue.isFirst(third)).isTrue();
        assertThat(third.isWoken()).isTrue();
    }

    @Test
    void shouldPutNewCallersBehindThoseThatWait() {
        assertThat(queue.hasWaiters()).isFalse();
        SlotQueue.Waiter waiter = queue.enter(0);
        queue.open(waiter);
        assertThat(queue.hasWaiters()).isTrue();

        queue.leave(waiter);

        assertThat(queue.hasWaiters()).isFalse();
    }

    @Test
    void shouldCostCallsNothingOnceNobodyHasWaitedForLong() {
        SlotQueue.Waiter waiter = queue.enter(0);
        queue.open(waiter);
        queue.leave(waiter);
        assertThat(queue.isWanted()).isTrue();

        for (int i = 0; i <= SlotQueue.UNNEEDED; i++) {
            queue.left();
        }

        assertThat(queue.isWanted()).isFalse();
        queue.open(queue.enter(0));
        assertThat(queue.isWanted()).isTrue();
    }
}
