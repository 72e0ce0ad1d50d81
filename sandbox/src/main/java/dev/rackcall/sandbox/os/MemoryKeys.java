package dev.rackcall.sandbox.os;

/** The processor's protection keys: numbers that pages carry, and a register of rights in each thread. */
public interface MemoryKeys {
    /** Bits of a key in the register of rights: access disabled, stores disabled. */
    static int bits(int key) {
        return 3 << (2 * key);
    }

    /** The bit that disables all access to pages of a key. */
    static int disabled(int key) {
        return 1 << (2 * key);
    }

    /** Takes an unused key; negative if none is left. */
    int allocate();

    /** Frees a key that no page carries any more. */
    void free(int key);

    /** Assigns a key to pages; 0 is the key of all other memory. */
    void assign(long address, long bytes, int key);

    /** Reserves these bits of the register for closing arenas. They are clear in threads that are not confined. */
    void use(int bits);

    /**
     * Confines the calling thread: of the reserved bits, exactly {@code closed} are set. Returns the argument for
     * {@link #leave}.
     */
    int enter(int closed);

    /** Ends the thread's last {@link #enter}. */
    void leave(int before);
}
