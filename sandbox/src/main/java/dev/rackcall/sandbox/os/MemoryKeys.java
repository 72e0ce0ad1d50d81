package dev.rackcall.sandbox.os;

/** The processor's protection keys as {@link dev.rackcall.sandbox.ProtectionKeys} needs them: numbers that pages carry, and a register of each thread. */
public interface MemoryKeys {
    /** Bits of a key in the register of rights: access disabled, stores disabled. */
    static int bits(int key) {
        return 3 << (2 * key);
    }

    /** The bit that disables all access to pages of a key. */
    static int disabled(int key) {
        return 1 << (2 * key);
    }

    /** A key that nobody has; negative if there is none left. */
    int allocate();

    /** Gives a key back that no page carries any more. */
    void free(int key);

    /** Gives pages a key; 0 is the key of all other memory. */
    void assign(long address, long bytes, int key);

    /** From now on the register's bits of these keys are used to close arenas, so threads that are not confined have them clear. */
    void use(int bits);

    /** Confines the calling thread: of the bits in use, exactly {@code closed} are set. Returns what {@link #leave} needs. */
    int enter(int closed);

    /** Ends the thread's last {@link #enter}. */
    void leave(int before);
}
