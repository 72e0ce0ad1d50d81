package dev.rackcall.directory;

/** Something that lives as long as its directory's lease. Called by the directory's thread only. */
abstract class LeaseBound {
    /** Whether it has an entry at this path. */
    abstract boolean isAt(String path);

    abstract void leaseLost();

    /**
     * There is a new lease.
     *
     * @return false to be asked again in a moment
     */
    abstract boolean leaseRenewed();
}
