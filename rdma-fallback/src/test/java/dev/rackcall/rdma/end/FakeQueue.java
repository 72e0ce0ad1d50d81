package dev.rackcall.rdma.end;

import dev.rackcall.verbs.CompletionOpcode;
import dev.rackcall.verbs.CompletionStatus;
import dev.rackcall.verbs.Completions;
import dev.rackcall.verbs.WorkRequest;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;

/** Takes as many requests as it has room for, and completes each at once. */
final class FakeQueue implements RequestQueue {
    private final Deque<Long> ended = new ArrayDeque<>();
    private final List<Integer> posts = new ArrayList<>();
    private int room = Integer.MAX_VALUE;
    private boolean completes = true;
    private volatile Optional<String> failure = Optional.empty();

    synchronized void room(int requests) {
        room = requests;
    }

    synchronized void completeNothing() {
        completes = false;
    }

    void fail(String why) {
        failure = Optional.of(why);
    }

    /** How many requests it took each time. */
    synchronized List<Integer> posts() {
        return List.copyOf(posts);
    }

    synchronized int posted() {
        return posts.stream().mapToInt(Integer::intValue).sum();
    }

    @Override
    public synchronized int post(WorkRequest[] requests, int count) {
        int taken = Math.min(count, room);
        for (int i = 0; i < taken; i++) {
            if ((requests[i].flags() & WorkRequest.SIGNALED) != 0 && completes) {
                ended.add(requests[i].id());
            }
        }
        if (taken > 0) {
            posts.add(taken);
        }
        room -= taken;
        return taken;
    }

    @Override
    public synchronized int poll(Completions batch) {
        int count = 0;
        while (count < batch.capacity() && !ended.isEmpty()) {
            batch.set(count++, ended.poll(), CompletionStatus.SUCCESS, CompletionOpcode.WRITE, 0, 0);
        }
        return count;
    }

    @Override
    public Optional<String> failure() {
        return failure;
    }
}
