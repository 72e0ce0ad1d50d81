package dev.rackcall.cp.agent;

import dev.rackcall.cp.request.CheckedRequest;
import dev.rackcall.verbs.CompletionOpcode;
import dev.rackcall.verbs.CompletionStatus;
import dev.rackcall.verbs.Completions;

/**
 * The requests of one virtual queue that have not left it: pushed, and not yet completed and popped. Each has a token, its number among all of the queue; tokens leave in order. A
 * message waits for two things: that the device has sent it, and that its receiver has answered. Guarded by the queue's monitor.
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
    /** What has not happened yet: {@link #DEVICE}, {@link #ANSWER}. */
    private final byte[] missing;

    /** Requests taken so far, and those of them that have left. */
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

    /** How many have left. */
    long left() {
        return left;
    }

    /** The token of the next request. */
    long next() {
        return taken;
    }

    /** What its sender calls it. */
    long id(long token) {
        return ids[index(token)];
    }

    /** AgentMessages that wait for their receivers. */
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

    /** The last one taken was not posted. */
    void takeBack(long token) {
        taken = token;
        unanswered -= isUnanswered(token) ? 1 : 0;
    }

    private boolean isUnanswered(long token) {
        return (missing[index(token)] & ANSWER) != 0;
    }

    /** The device has ended it. What has failed there has no answer. */
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

    /** Its receiver has said how it ended; returns false if nobody waits for that. */
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

    /** Of none that has no answer yet will one come. */
    void flushUnanswered() {
        for (long token = left; token < taken; token++) {
            if (isUnanswered(token)) {
                answer(index(token), CompletionStatus.FLUSHED);
            }
        }
    }

    /** The oldest message without an answer; -1 if there is none. */
    long oldestUnanswered() {
        for (long token = left; token < taken && unanswered > 0; token++) {
            if (isUnanswered(token)) {
                return token;
            }
        }
        return -1;
    }

    /** Lets requests go of which nobody is told; of a closed queue, all that have ended. */
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

    /** Lets requests go that have ended, and tells of those that are to be told of; returns how many that were. */
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
