package dev.rackcall.cp;

/** Messages that have arrived at a port, in a reusable batch. Belongs to one thread at a time. */
public final class Arrivals {
    private final long[] ids;
    private final int[] bytes;
    private final long[] hosts;

    private Arrivals(int capacity) {
        ids = new long[capacity];
        bytes = new int[capacity];
        hosts = new long[capacity];
    }

    /** A batch with room for this many messages. */
    public static Arrivals create(int capacity) {
        if (capacity < 1) {
            throw new IllegalArgumentException("a batch has room for one message at least, not " + capacity);
        }
        return new Arrivals(capacity);
    }

    /** How many messages this batch has room for. */
    public int capacity() {
        return ids.length;
    }

    /** The id that was passed to {@link MessagePort#give} with the message's memory. */
    public long id(int index) {
        return ids[index];
    }

    /** The length of the message in bytes. */
    public int bytes(int index) {
        return bytes[index];
    }

    /** The host that sent the message. */
    public HostId host(int index) {
        return new HostId(hosts[index]);
    }

    public void set(int index, long id, int length, long host) {
        ids[index] = id;
        bytes[index] = length;
        hosts[index] = host;
    }
}
