package dev.rackcall.cli.top;

import java.util.List;
import java.util.Set;

/**
 * A process that holds memory of Rackcall's.
 *
 * @param name its main class, or its program
 * @param ids its pid in each pid namespace in which it has one
 */
record MemoryHolder(int pid, String name, Set<Integer> ids, List<HeldMemory> memory) {}
