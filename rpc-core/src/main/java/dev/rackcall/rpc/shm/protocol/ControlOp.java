package dev.rackcall.rpc.shm.protocol;

/**
 * The operation that a request with {@link SlotLayout#CONTROL} stands for. Its number travels as the method, its
 * operands as one or two longs inline.
 */
public final class ControlOp {
    /** The caller of the call with that ticket no longer waits. */
    public static final int CANCEL = 1;
    /** The client has closed the reply scope at that Ref. */
    public static final int RELEASE = 2;
    /** Send more elements of the stream with that id. Has a response. */
    public static final int STREAM_PULL = 3;
    /** The caller has closed the stream with that id. */
    public static final int STREAM_CLOSE = 4;

    /** The client has read the large answer to the call with that ticket: its memory may be reused. */
    public static final int READ = 5;

    /** A holder has the client's seals, in the session whose number follows in two longs: join it. Has a response. */
    public static final int JOIN_SEALS = 6;

    /**
     * Other clients may read the scope whose first run is at that Ref. Has a response. This and the following
     * operations take two longs, and exist only over mirrored memory.
     */
    public static final int SHARE = 7;

    /** The scope at that Ref ends. Has a response, after which the server no longer reads there for others. */
    public static final int UNSHARE = 8;

    /** Send that many bytes at that Ref, from the memory of another client or of the server. Has a response. */
    public static final int FETCH = 9;

    private ControlOp() {}

    /** Whether its operands are two longs. */
    public static boolean isOfTwo(int op) {
        return op >= JOIN_SEALS && op <= FETCH;
    }
}
