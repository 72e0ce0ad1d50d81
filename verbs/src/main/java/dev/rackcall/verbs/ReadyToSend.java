package dev.rackcall.verbs;

/**
 * The attributes that a queue pair needs for the READY_TO_SEND state. Start with {@link #defaults}.
 *
 * @param firstPacket number of its first packet, 24 bits; choose it at random for a reconnected queue pair, otherwise
 *     packets of the old connection may be mistaken for new ones
 * @param timeout code of the time to wait for an answer: 4.096 us * 2^timeout; 14 is 67 ms
 * @param retries retries if the peer does not answer, 0-6 (7 never ends on some devices)
 * @param rnrRetries retries if the peer has no receive request, 0-6; 7 never ends
 * @param maxReadAtomic concurrent READs and atomics of its own
 */
public record ReadyToSend(int firstPacket, int timeout, int retries, int rnrRetries, int maxReadAtomic) {
    /** For {@link #rnrRetries}: retry without limit. */
    public static final int RNR_FOR_EVER = 7;

    /** Checks the ranges. */
    public ReadyToSend {
        if (firstPacket >>> 24 != 0 || timeout < 0 || timeout > 31 || maxReadAtomic < 0) {
            throw new IllegalArgumentException("cannot send from packet " + firstPacket + " (24 bits), timeout "
                    + timeout + " (0-31), " + maxReadAtomic + " reads");
        }
        if (retries < 0 || retries > 7 || rnrRetries < 0 || rnrRetries > RNR_FOR_EVER) {
            throw new IllegalArgumentException(
                    "retries " + retries + " and RNR retries " + rnrRetries + " must be 0 to 7");
        }
    }

    /** First packet 0, 67 ms, 6 retries, unlimited RNR retries, 16 concurrent reads. */
    public static ReadyToSend defaults() {
        return new ReadyToSend(0, 14, 6, RNR_FOR_EVER, 16);
    }

    /** The same with another first packet number. */
    public ReadyToSend withFirstPacket(int number) {
        return new ReadyToSend(number, timeout, retries, rnrRetries, maxReadAtomic);
    }

    /** The same with this timeout and this many retries for a peer that does not answer. */
    public ReadyToSend withRetries(int timeoutCode, int tries) {
        return new ReadyToSend(firstPacket, timeoutCode, tries, rnrRetries, maxReadAtomic);
    }

    /** The same with this many retries for a peer without receive requests. */
    public ReadyToSend withRnrRetries(int tries) {
        return new ReadyToSend(firstPacket, timeout, retries, tries, maxReadAtomic);
    }

    /** The same with this many concurrent READs and atomics. */
    public ReadyToSend withMaxReadAtomic(int requests) {
        return new ReadyToSend(firstPacket, timeout, retries, rnrRetries, requests);
    }
}
