package dev.rackcall.rdma.queue;

import dev.rackcall.rdma.end.PeerMemory;
import dev.rackcall.rdma.end.PendingRequests;

/**
 * Who sleeps at one end, and how the other wakes him. All with the carrier's lock.
 *
 * <p>A publication must wake a peer that sleeps, and queue pairs that many share take no WRITE that announces itself. So whoever is about to sleep WRITEs a word at the peer, that it
 * {@link #announce listens}, and then looks at the memory once more; whoever publishes looks at that word, and RINGs by a message if it is set: at once, behind the publication, and once more when that has arrived.
 * Either the one sees the word, or the other the publication, as long as both look when what they have written is there. So somebody must look when a publication has arrived: whoever
 * uses the carrier next, or else the {@link QueueHub}'s thread, a little later.
 *
 * <p>That a WRITE is done says that the peer's device has it, not that the peer's processor would see it: the device's own writes into that memory may still be on their way. So who listens READs the word behind the WRITE: the
 * peer's device cannot read it before it is there, so that whoever publishes sees it from then on. A publication whose publisher looked before that, and missed it, was acknowledged before the answer to that READ set out; the
 * device here wrote it before that answer, and its writes are seen in their order. So who listens sees it when the READ is done. That holds for devices that keep PCIe's order of writes, which is what memory is registered for here.
 */
final class QueueWakeups {
    private final QueueEnd end;
    private final PendingRequests out;
    private final QueueMessages notes;
    /** The peer's, of {@link QueueEnd}. Null until it is known. */
    private PeerMemory words;
    /** Up to which requests it was seen to what has arrived. */
    private long settled;
    /** The last publication, which a peer that sleeps is to hear of. */
    private long news;
    /** The request that has told the peer that this end listens; and what had been heard of the peer before. */
    private long listening;

    private long heardBefore;
    private boolean listens;
    /** Whoever listens sleeps by now, and is woken when {@link #listening} is done. */
    private boolean isLate;

    QueueWakeups(QueueEnd end, PendingRequests out, QueueMessages notes) {
        this.end = end;
        this.out = out;
        this.notes = notes;
    }

    void connect(QueueHello peer) {
        words = peer.words();
    }

    // ---- who sleeps there

    /** What was added last is a publication. If the peer listens a message goes behind it, or at once; an urgent one in any case. */
    void published(boolean urgent) {
        news = out.added();
        if (urgent) {
            // Of nobody who listens it would be seen later that the message came too early.
            notes.add(QueueMessage.RING, 0, news, out.completed());
        }
        ring();
    }

    /** If the peer listens. The message mostly travels behind what was published last. */
    private void ring() {
        if (end.takeListener()) {
            notes.add(QueueMessage.RING, 0, 0, out.completed());
        }
    }

    /** Sees to what has arrived; of a peer that listens by now it is not known whether it has seen that. */
    void settle() {
        // Not only what was reaped just now: whoever makes room takes completions, too.
        if (out.completed() != settled) {
            boolean mayBeNews = settled < news;
            settled = out.completed();
            // A sign of life wakes nobody.
            if (mayBeNews && words != null && out.isAlive()) {
                ring();
            }
        }
    }

    /** Whether nothing is on its way that must be seen to when it has arrived. */
    boolean isSettled() {
        return settled >= out.signaled();
    }

    // ---- who sleeps here

    /**
     * Tells the peer that somebody sleeps here, unless it knows.
     *
     * @param heard how often the peer has rung; if it has not since it was told last, it still knows
     * @return the request that is done when it knows
     */
    long announce(long heard) {
        if (!listens || heard != heardBefore) {
            listens = true;
            heardBefore = heard;
            long at = words.at(QueueEnd.LISTENS, Long.BYTES);
            // Partner: QueueEnd.takeListener, which looks when a publication has arrived.
            out.add(out.next().write(at, words.key()).inline(1));
            out.add(out.next()
                    .read(at, words.key())
                    .from(end.words, QueueEnd.SEEN, Long.BYTES)
                    .signaled());
            listening = out.added();
        }
        return listening;
    }

    /** Who has announced himself sleeps before the peer is known to know. */
    void isLate() {
        isLate = true;
    }

    /** Whether such a one is to look once more, since the peer knows now. Says so once. */
    boolean takeLate() {
        boolean wakes = isLate && out.completed() >= listening;
        isLate &= !wakes;
        return wakes;
    }

    /** The peer is told again next time, in case a ring was lost. */
    void forget() {
        listens = false;
    }

    // ---- signs of life

    /** The clock here, which is seen to arrive. */
    void beat() {
        out.add(out.next()
                .write(words.at(QueueEnd.BEAT, Long.BYTES), words.key())
                .inline(System.nanoTime())
                .signaled());
    }
}
