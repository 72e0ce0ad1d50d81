package dev.rackcall.verbs;

/** Largest payload of one packet (enum ibv_mtu). A UD message must fit one packet. */
public enum Mtu {
    MTU_256,
    MTU_512,
    MTU_1024,
    MTU_2048,
    /** 4096 bytes. */
    MTU_4096;

    private static final Mtu[] ALL = values();

    /** Payload in bytes. */
    public int bytes() {
        return 256 << ordinal();
    }

    /** libibverbs' number. */
    public int code() {
        return ordinal() + 1;
    }

    /** From libibverbs' number. */
    public static Mtu ofCode(int code) {
        if (code < 1 || code > ALL.length) {
            throw new IllegalArgumentException("unknown MTU code " + code + "; expected 1 to " + ALL.length);
        }
        return ALL[code - 1];
    }
}
