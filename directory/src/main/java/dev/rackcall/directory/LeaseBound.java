package dev.rackcall.directory;

/** Something that lives as long as its directory's lease. Called by the directory's thread only. */
abstract class LeaseBound {
    abstract void leaseLost();

    /**
     * There is a new lease.
     *
     * @return false to be asked again in a moment
     */
    abstract boolean leaseRenewed();
}
