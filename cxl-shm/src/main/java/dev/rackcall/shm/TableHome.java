package dev.rackcall.shm;

/** Where an arena's page table lies. */
public enum TableHome {
    /** In the arena itself. Several processes allocate and must trust each other with the table. */
    SHARED,
    /** In the heap of the only process that allocates. Peers that map the arena can neither read nor write it. */
    PRIVATE
}
