package dev.rackcall.sandbox;

import dev.rackcall.shm.os.OsException;
import java.lang.foreign.MemorySegment;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Serves a sealed process's requests, laid out as in {@link HolderLayout}: closes runs, and releases or renews seals
 * whose receiver is done. Used by one thread. */
final class HolderRequests {
    private static final Logger LOG = LoggerFactory.getLogger(HolderRequests.class);

    private final int pid;
    private final SealTable table;
    private final MemorySegment requests;
    private final MemorySegment answers;
    private final long[] refs = new long[HolderLayout.MAX_COUNT];
    private final long[] lengths = new long[HolderLayout.MAX_COUNT];

    HolderRequests(int pid, SealTable table, MemorySegment requests, MemorySegment answers) {
        this.pid = pid;
        this.table = table;
        this.requests = requests;
        this.answers = answers;
    }

    /** Serves the current request and writes its answer; the caller publishes it. */
    void answer() {
        int status = HolderLayout.DONE;
        long value = 0;
        String reason = "";
        try {
            // Each field is read once, because the process may change it at any time.
            int op = HolderLayout.op(requests);
            int count = HolderLayout.count(requests);
            checkCount(count);
            value = switch (op) {
                case HolderLayout.SEAL -> seal(count);
                case HolderLayout.RELEASE -> release(count);
                case HolderLayout.RENEW -> renew();
                default -> throw new SealException("there is no request " + op);
            };
        } catch (SealException | OsException e) {
            status = HolderLayout.REFUSED;
            reason = String.valueOf(e.getMessage());
        } catch (RuntimeException e) {
            // No request may end the thread that keeps the process sealed.
            LOG.warn("a request of pid {} failed", pid, e);
            status = HolderLayout.REFUSED;
            reason = "the holder could not serve this request: " + e;
        }
        HolderLayout.answer(answers, status, value, reason);
    }

    private long seal(int count) {
        for (int i = 0; i < count; i++) {
            refs[i] = HolderLayout.word(requests, 2 * i);
            lengths[i] = HolderLayout.word(requests, 2 * i + 1);
        }
        return table.seal(refs, lengths, count);
    }

    private long release(int count) {
        for (int i = 0; i < count; i++) {
            refs[i] = doneSeal(i);
            for (int j = 0; j < i; j++) {
                if (refs[j] == refs[i]) {
                    throw new SealException(SealRingLayout.describe(refs[i]) + " appears twice in one request");
                }
            }
        }
        return table.release(refs, count, SealRingLayout.FREE);
    }

    private long renew() {
        return table.renew(doneSeal(0));
    }

    /** The seal at this position of a request, read once. */
    private long doneSeal(int position) {
        long seal = HolderLayout.word(requests, position);
        if (!table.isDone(seal)) {
            throw new SealException(SealRingLayout.describe(seal) + " is not in force or its receiver is not done");
        }
        return seal;
    }

    private static void checkCount(int count) {
        if (count < 1 || count > HolderLayout.MAX_COUNT) {
            throw new SealException("a request for " + count + " runs or seals");
        }
    }
}
