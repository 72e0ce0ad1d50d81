package dev.rackcall.shm;

/** Where an arena's page table lies. */
public enum TableHome {
    /** In the arena itself: several processes allocate, and must trust each other with the table. */
    SHARED,
    /** In the memory of the one process that allocates: peers that map the arena cannot touch it, nor see it. */
    PRIVATE
}
