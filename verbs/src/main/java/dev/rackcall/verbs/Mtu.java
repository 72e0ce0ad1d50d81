package dev.rackcall.verbs;

/** Largest payload of one packet (enum ibv_mtu). A UD message must fit one packet. */
public enum Mtu {
    /** 256 bytes. */
    MTU_256,
    /** 512 bytes. */
    MTU_512,
    /** 1024 bytes. */
    MTU_1024,
    /** 2048 bytes. */
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
