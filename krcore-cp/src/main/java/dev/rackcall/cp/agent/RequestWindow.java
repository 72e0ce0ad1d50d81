package dev.rackcall.cp.agent;

import dev.rackcall.cp.request.CheckedRequest;
import dev.rackcall.verbs.CompletionOpcode;
import dev.rackcall.verbs.CompletionStatus;
import dev.rackcall.verbs.Completions;

/**
 * The requests of one virtual queue that were pushed and not yet popped. Each has a token, its number in the queue;
 * they leave in that order. A message waits for two events: the device has sent it, and its receiver has replied.
 * Guarded by the queue's monitor.
 */
final class RequestWindow {
    private static final CompletionStatus[] STATUSES = CompletionStatus.values();
    private static final CompletionOpcode[] OPCODES = CompletionOpcode.values();
    private static final byte DEVICE = 1;
    private static final byte ANSWER = 2;

    private final int depth;
    private final long[] ids;
    private final int[] bytes;
    private final byte[] statuses;
    private final byte[] opcodes;
    private final boolean[] signaled;
    /** The events that are still pending: {@link #DEVICE}, {@link #ANSWER}. */
    private final byte[] missing;

    /** Requests taken so far, and how many of them have left. */
    private long taken;

    private long left;
    private int unanswered;

    RequestWindow(int depth) {
        this.depth = depth;
        ids = new long[depth];
        bytes = new int[depth];
        statuses = new byte[depth];
        opcodes = new byte[depth];
        signaled = new boolean[depth];
        missing = new byte[depth];
    }

    private int index(long token) {
        return (int) (token % depth);
    }

    boolean hasRoom() {
        return taken - left < depth;
    }

    boolean isEmpty() {
        return left == taken;
    }

    /** Requests that have left. */
    long left() {
        return left;
    }

    /** The token of the next request. */
    long next() {
        return taken;
    }

    /** The caller's id of a request. */
    long id(long token) {
        return ids[index(token)];
    }

    /** Messages without a reply. */
    int unanswered() {
        return unanswered;
    }

    /** Returns the request's token. */
    long take(CheckedRequest request) {
        int at = index(taken);
        ids[at] = request.id();
        signaled[at] = request.isSignaled();
        statuses[at] = (byte) CompletionStatus.SUCCESS.ordinal();
        missing[at] = request.isMessage() ? DEVICE | ANSWER : DEVICE;
        unanswered += request.isMessage() ? 1 : 0;
        return taken++;
    }

    /** Undoes the last {@link #take}: the request was not posted. */
    void takeBack(long token) {
        taken = token;
        unanswered -= isUnanswered(token) ? 1 : 0;
    }

    private boolean isUnanswered(long token) {
        return (missing[index(token)] & ANSWER) != 0;
    }

    /** The device has ended a request. A message that failed there gets no reply. */
    void completed(long token, CompletionStatus status, CompletionOpcode opcode, int length) {
        int at = index(token);
        missing[at] &= ~DEVICE;
        bytes[at] = length;
        opcodes[at] = (byte) opcode.ordinal();
        if (status != CompletionStatus.SUCCESS) {
            if (isUnanswered(token)) {
                answer(at, status);
            }
            statuses[at] = (byte) status.ordinal();
        }
    }

    /** The receiver has reported how a message ended; returns false if the message is not pending. */
    boolean answered(long token, CompletionStatus status) {
        if (token < left || token >= taken || !isUnanswered(token)) {
            return false;
        }
        answer(index(token), status);
        return true;
    }

    private void answer(int at, CompletionStatus status) {
        missing[at] &= ~ANSWER;
        unanswered--;
        statuses[at] = (byte) status.ordinal();
    }

    /** Flushes all messages that wait for a reply, since no reply will come. */
    void flushUnanswered() {
        for (long token = left; token < taken; token++) {
            if (isUnanswered(token)) {
                answer(index(token), CompletionStatus.FLUSHED);
            }
        }
    }

    /** The oldest message without a reply; -1 if there is none. */
    long oldestUnanswered() {
        for (long token = left; token < taken && unanswered > 0; token++) {
            if (isUnanswered(token)) {
                return token;
            }
        }
        return -1;
    }

    /** Removes ended requests that have no completion; in a closed queue, all ended requests. */
    void leave(boolean closed) {
        while (isFirstOver() && (closed || isSilent(index(left)))) {
            left++;
        }
    }

    private boolean isFirstOver() {
        return left < taken && missing[index(left)] == 0;
    }

    private boolean isSilent(int at) {
        return !signaled[at] && statuses[at] == CompletionStatus.SUCCESS.ordinal();
    }

    /** Removes ended requests and fills the batch with their completions; returns how many. */
    int pop(Completions batch, boolean closed) {
        int count = 0;
        leave(closed);
        while (count < batch.capacity() && isFirstOver()) {
            int at = index(left++);
            batch.set(count++, ids[at], STATUSES[statuses[at]], OPCODES[opcodes[at]], bytes[at], 0);
            leave(closed);
        }
        return count;
    }
}
