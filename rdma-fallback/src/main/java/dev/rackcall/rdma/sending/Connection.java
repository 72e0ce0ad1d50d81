package dev.rackcall.rdma.sending;

/** The connection for which something is sent, as its sending half sees it. Thread-safe. */
public interface Connection {
    /** Whether the peer is known to be gone. */
    boolean hasEnded();

    /**
     * The peer is gone, or as good as. Whoever has said so also {@link #tellEnd tells}, once he has given his locks back.
     *
     * @param why a clause; of several the first counts
     */
    void end(String why);

    /** Says so to whoever wants to know, if nobody has yet. Without locks of the sending half. */
    void tellEnd();

    /** Takes in what has arrived, as {@link dev.rackcall.rpc.spi.Carrier#look}. */
    void look();
}
