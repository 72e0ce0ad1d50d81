/**
 * Tables in registered memory that other hosts read one-sided: the hosts at the meta server, the memory regions at each
 * agent. Start with {@link dev.rackcall.cp.table.TableLayout}. {@link dev.rackcall.cp.table.RecordTable} writes a
 * table, {@link dev.rackcall.cp.table.TableReader} reads it with one READ.
 */
package dev.rackcall.cp.table;
