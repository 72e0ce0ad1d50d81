package dev.rackcall.sandbox;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.charset.StandardCharsets;

/**
 * The shared memory for requests of a sealed process and answers of its holder: two areas with one writer each. There
 * is one request at a time.
 *
 * <pre>
 * requests, written by the sealed process         answers, written by the holder
 *    0  number  : released last                       0  number : of the answered request, released last
 *    4  op      : 1 seal, 2 release, 3 renew          4  status  : 0 done, 1 refused
 *    8  count   : runs, or seals                      8  value   : the seal, or system calls made
 *                                                   16  length of the reason, at most 1,000
 *   32  asleep : 1 while the process sleeps         32  asleep : 1 while the holder sleeps
 *   36  processor : on which it last published      36  processor : on which it last published
 *   64  run, bytes of each run; or seals            64  reason, in words, UTF-8
 *                                                  4096  ring of descriptors, see {@link SealRingLayout}
 * </pre>
 *
 * The holder waits for the number of the request to change, the sealed process for the number of the answer; see {@link
 * HolderTurns}.
 */
final class HolderLayout {
    static final int SEAL = 1;
    static final int RELEASE = 2;
    static final int RENEW = 3;
    static final int DONE = 0;
    static final int REFUSED = 1;
    /** The maximum number of runs of a scope. */
    static final int MAX_COUNT = 1024;

    static final long REQUEST_BYTES = 20480;
    static final long RING = 4096;
    static final long NUMBER = 0;
    static final long ASLEEP = 32;

    private static final long OP = 4;
    private static final long COUNT = 8;
    private static final long WORDS = 64;
    private static final long STATUS = 4;
    private static final long VALUE = 8;
    private static final long REASON_LENGTH = 16;
    private static final long PROCESSOR = 36;
    private static final long REASON = 64;
    private static final int MAX_REASON = 1000;
    private static final VarHandle INT = ValueLayout.JAVA_INT.varHandle();

    private HolderLayout() {}

    /** Acquire: pairs with {@link #publish}. A reader that sees the number also sees its request or answer. */
    static int number(MemorySegment memory) {
        return (int) INT.getAcquire(memory, NUMBER);
    }

    /**
     * Publishes this side's next number. Release: pairs with {@link #number}.
     *
     * @return whether the other side sleeps or is about to, and must be woken
     */
    static boolean publish(MemorySegment own, MemorySegment peer, int number) {
        INT.setRelease(own, NUMBER, number);
        // Between the number and the check for a sleeper: pairs with the fence in fallAsleep.
        VarHandle.fullFence();
        return (int) INT.getOpaque(peer, ASLEEP) != 0;
    }

    /** Announces that the area's writer is about to sleep. It must then read the other side's number once more. */
    static void fallAsleep(MemorySegment memory) {
        INT.setOpaque(memory, ASLEEP, 1);
        // Between the announcement and the last look at the number: pairs with the fence in publish.
        VarHandle.fullFence();
    }

    /** Withdraws {@link #fallAsleep}. Opaque: if the other side sees it late, it wakes once in vain. */
    static void wakeUp(MemorySegment memory) {
        INT.setOpaque(memory, ASLEEP, 0);
    }

    /** On which processor the area's writer ran when it last published; a hint for the other side's spinning. */
    static int processor(MemorySegment memory) {
        return (int) INT.getOpaque(memory, PROCESSOR);
    }

    /** Sets what {@link #processor(MemorySegment)} returns. */
    static void processor(MemorySegment memory, int number) {
        INT.setOpaque(memory, PROCESSOR, number);
    }

    static void request(MemorySegment requests, int op, int count) {
        requests.set(ValueLayout.JAVA_INT, OP, op);
        requests.set(ValueLayout.JAVA_INT, COUNT, count);
    }

    static int op(MemorySegment requests) {
        return requests.get(ValueLayout.JAVA_INT, OP);
    }

    static int count(MemorySegment requests) {
        return requests.get(ValueLayout.JAVA_INT, COUNT);
    }

    static void word(MemorySegment requests, int index, long word) {
        requests.set(ValueLayout.JAVA_LONG, WORDS + (long) index * Long.BYTES, word);
    }

    static long word(MemorySegment requests, int index) {
        return requests.get(ValueLayout.JAVA_LONG, WORDS + (long) index * Long.BYTES);
    }

    static void answer(MemorySegment answers, int status, long value, String reason) {
        byte[] text = reason.getBytes(StandardCharsets.UTF_8);
        int length = Math.min(text.length, MAX_REASON);
        answers.set(ValueLayout.JAVA_INT, STATUS, status);
        answers.set(ValueLayout.JAVA_LONG, VALUE, value);
        answers.set(ValueLayout.JAVA_INT, REASON_LENGTH, length);
        MemorySegment.copy(text, 0, answers, ValueLayout.JAVA_BYTE, REASON, length);
    }

    static int status(MemorySegment answers) {
        return answers.get(ValueLayout.JAVA_INT, STATUS);
    }

    static long value(MemorySegment answers) {
        return answers.get(ValueLayout.JAVA_LONG, VALUE);
    }

    static String reason(MemorySegment answers) {
        int length = Math.clamp(answers.get(ValueLayout.JAVA_INT, REASON_LENGTH), 0, MAX_REASON);
        byte[] text = new byte[length];
        MemorySegment.copy(answers, ValueLayout.JAVA_BYTE, REASON, text, 0, length);
        return new String(text, StandardCharsets.UTF_8);
    }
}
