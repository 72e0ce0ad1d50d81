package dev.rackcall.rpc.shm.protocol;

/**
 * What a request with {@link SlotLayout#CONTROL} asks for. The number travels as its method, operands as two longs
 * inline.
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
     * Other clients may read the scope whose first run is at that Ref. Has a response. This and the following only over
     * mirrored memory, with two longs.
     */
    public static final int SHARE = 7;

    /** That scope ends. Has a response, after which the server no longer reads there for others. */
    public static final int UNSHARE = 8;

    /** Send that many bytes of what another client, or the server, has at that Ref. Has a response. */
    public static final int FETCH = 9;

    private ControlOp() {}

    /** Whether its operands are two longs. */
    public static boolean isOfTwo(int op) {
        return op >= JOIN_SEALS && op <= FETCH;
    }
}
