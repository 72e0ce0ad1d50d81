package dev.rackcall.rpc.contract;

/** Versions over shared memory. */
class MemoryEvolutionTest extends EvolutionTest {}
