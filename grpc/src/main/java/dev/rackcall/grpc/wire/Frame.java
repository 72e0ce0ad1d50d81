package dev.rackcall.grpc.wire;

/**
 * The kinds of frames and their flags. A frame is a header of 16 bytes and its payload:
 *
 * <pre>
 *  0        4      5       6        8        12       16
 *  +--------+------+-------+--------+--------+--------+---------
 *  | length | kind | flags |   0    | stream | extra  | payload ...
 *  +--------+------+-------+--------+--------+--------+---------
 * </pre>
 *
 * <p>Frames begin at multiples of 8 bytes. The length counts the payload only.
 */
public final class Frame {
    static final int HEADER_BYTES = 16;

    /** Opens a stream: method, authority, metadata. Numbers of streams grow. */
    public static final int OPEN = 1;
    /** The server's first metadata of a stream. */
    public static final int HEADERS = 2;
    /** Bytes of messages, each with gRPC's prefix of five bytes; a frame may end anywhere inside a message. */
    public static final int DATA = 3;
    /** The server's last metadata, with the status; ends the stream. */
    public static final int TRAILERS = 4;
    /** Ends a stream at once; {@code extra} is the status code, the payload its description. */
    public static final int RESET = 5;
    /** The payload counts all bytes of a stream that the receiver has consumed. */
    public static final int CREDIT = 6;
    /** The server accepts no stream above {@code extra}. */
    public static final int GOAWAY = 7;
    /** Asks for a PONG with the same payload of 8 bytes. */
    public static final int PING = 8;

    public static final int PONG = 9;

    /** DATA: the client sends no more. */
    public static final int END = 1;
    /** OPEN, HEADERS, TRAILERS: the next frame continues the payload; then this one has 2 KiB at least. */
    static final int MORE = 2;
    /** RESET: the server has not begun to handle the stream. */
    public static final int REFUSED = 4;

    private Frame() {}

    /** Bytes that a frame with that payload occupies. */
    static int bytes(int payload) {
        return HEADER_BYTES + ((payload + 7) & -8);
    }
}
