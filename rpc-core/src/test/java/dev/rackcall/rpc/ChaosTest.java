package dev.rackcall.rpc;

/** Storms of calls through shared memory. */
class ChaosTest extends ChaosStorms {}
