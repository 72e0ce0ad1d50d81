package dev.rackcall.rpc.chaos;

/** Storms of calls through shared memory. */
class ChaosTest extends ChaosStorms {}
