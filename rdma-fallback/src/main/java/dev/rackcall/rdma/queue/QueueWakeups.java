package dev.rackcall.rdma.queue;

import dev.rackcall.rdma.end.PeerMemory;
import dev.rackcall.rdma.end.PendingRequests;

/**
 * How one end announces that it sleeps, and how the other wakes it. Used with the carrier's lock.
 *
 * <p>A publication must wake a sleeping peer, but shared queue pairs take no WRITE that notifies. Instead:
 *
 * <ol>
 * <li>A thread that is about to sleep WRITEs a word at the peer: it {@linkplain #announce listens}. Then it checks the
 * memory once more.
 * <li>A thread that publishes reads that word and sends a RING if it is set. It reads the word at once, and again when
 * the publication has arrived.
 * </ol>
 *
 * <p>Each side reads after its own write has arrived, so the publisher sees the word or the listener sees the
 * publication. When a publication has arrived, some thread must read the word: the next thread that uses the carrier,
 * or the {@link QueueHub}'s.
 *
 * <p>A completed WRITE has reached the peer's device, but perhaps not yet its memory. The listener therefore READs the
 * word behind the WRITE. The READ returns it only once it is in memory, so later publishers see it. An earlier
 * publisher that missed the word had its WRITE acknowledged before the READ was answered. The device here wrote it to
 * memory before that answer, so the listener sees it when the READ is done. This needs PCIe's order of writes, with
 * which the memory is registered.
 */
final class QueueWakeups {
    private final QueueEnd end;
    private final PendingRequests out;
    private final QueueMessages messages;
    /** The peer's words, see {@link QueueEnd}. Null until known. */
    private PeerMemory words;
    /** All publications up to this request have arrived and were handled. */
    private long settled;
    /** The last publication, of which a sleeping peer must be notified. */
    private long news;
    /** The request that announced to the peer that this end listens, and the number of RINGs before it. */
    private long listening;

    private long heardBefore;
    private boolean listens;
    /** Whether the listener already sleeps; it is woken when {@link #listening} is done. */
    private boolean isLate;

    QueueWakeups(QueueEnd end, PendingRequests out, QueueMessages messages) {
        this.end = end;
        this.out = out;
        this.messages = messages;
    }

    void connect(QueueHello peer) {
        words = peer.words();
    }

    // ---- the peer sleeps

    /** Called after a publication was added. Sends a RING if the peer listens or the publication is urgent. */
    void published(boolean urgent) {
        news = out.added();
        if (urgent) {
            // After the publication: a peer that does not listen would not be notified again if the RING came first.
            messages.add(QueueMessage.RING, 0, news, out.completed());
        }
        ring();
    }

    /** Sends a RING if the peer listens, usually right behind the last publication. */
    private void ring() {
        if (end.takeListener()) {
            messages.add(QueueMessage.RING, 0, 0, out.completed());
        }
    }

    /** Handles arrived publications: a peer that listens by now may have missed them. */
    void settle() {
        // Compared with the number of all completions, because a thread that makes room in the queue takes completions,
        // too.
        if (out.completed() != settled) {
            boolean mayBeNews = settled < news;
            settled = out.completed();
            // A beat wakes no peer.
            if (mayBeNews && words != null && out.isAlive()) {
                ring();
            }
        }
    }

    /** Whether no publication is in flight that must be handled when it arrives. */
    boolean isSettled() {
        return settled >= out.signaled();
    }

    // ---- a thread sleeps here

    /**
     * Tells the peer that a thread sleeps here, unless the last announcement is still valid.
     *
     * @param heard how many RINGs have arrived; if none since the last announcement, that is still valid
     * @return the request that is done when the announcement has arrived
     */
    long announce(long heard) {
        if (!listens || heard != heardBefore) {
            listens = true;
            heardBefore = heard;
            long at = words.at(QueueEnd.LISTENS, Long.BYTES);
            // Partner: QueueEnd.takeListener, which reads the word when a publication has arrived.
            out.add(out.next().write(at, words.key()).inline(1));
            out.add(out.next()
                    .read(at, words.key())
                    .from(end.words, QueueEnd.SEEN, Long.BYTES)
                    .signaled());
            listening = out.added();
        }
        return listening;
    }

    /** Called when the listener goes to sleep before the announcement is known to have arrived. */
    void isLate() {
        isLate = true;
    }

    /** Whether such a listener has to check once more, because the announcement has arrived now. True only once. */
    boolean takeLate() {
        boolean wakes = isLate && out.completed() >= listening;
        isLate &= !wakes;
        return wakes;
    }

    /** Announces again next time, in case a RING was lost. */
    void forget() {
        listens = false;
    }

    // ---- beats

    /** Sends this end's clock, signaled. */
    void beat() {
        out.add(out.next()
                .write(words.at(QueueEnd.BEAT, Long.BYTES), words.key())
                .inline(System.nanoTime())
                .signaled());
    }
}
