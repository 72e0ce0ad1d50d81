package dev.rackcall.rpc.shm.protocol;

/**
 * The operation that a request with {@link SlotLayout#CONTROL} stands for. Its number travels as the method, its
 * operands as one or two longs inline; {@link #BIND} has a text, {@link #STREAM_PUSH} elements.
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

    /**
     * Calls to another service of this server will come over this connection. The request has the name of its channel.
     * The response has an int, the service's number on this connection, its fingerprint as a long, and two texts, the
     * interface's name and description. Only over memory of one host.
     */
    public static final int BIND = 10;

    /**
     * Elements of the stream that a call sends. The request has the call's ticket as a long, the number of elements as
     * a count, the elements, and a byte: {@link #MORE_FOLLOW}, {@link #ALL_SENT}, or {@link #SENDING_FAILED} and the
     * failure's code as an int and its text. The response comes when the handler takes the elements. It has a boolean:
     * whether the handler wants more. A call has one such request at a time.
     */
    public static final int STREAM_PUSH = 11;

    /**
     * The client has seen that the server drains. It has begun its last call before this request; requests about calls
     * may follow. The operand is 0, or {@link #SCOPES_ARE_OPEN}; a second request with 0 then follows once none is.
     */
    public static final int LAST_CALL = 12;

    /** Callers still use scopes in the connection's memory. */
    public static final long SCOPES_ARE_OPEN = 1;

    public static final byte MORE_FOLLOW = 0;
    public static final byte ALL_SENT = 1;
    public static final byte SENDING_FAILED = 2;

    private ControlOp() {}

    /** Whether its operands are two longs. */
    public static boolean isOfTwo(int op) {
        return op >= JOIN_SEALS && op <= FETCH;
    }
}
