package dev.rackcall.cli.top;

import dev.rackcall.rpc.shm.notes.ProcessId;
import java.util.List;

/**
 * A process that holds memory of Rackcall's.
 *
 * @param name its main class, or its program
 * @param id as it knows itself
 */
record MemoryHolder(int pid, String name, ProcessId id, List<HeldMemory> memory) {}
