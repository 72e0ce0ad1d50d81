/**
 * Runs the document store in several processes: by pointer, as JSON over a Unix domain socket and by gRPC over one, or on three hosts in two racks.
 * A {@link dev.rackcall.samples.demo.ChildProcess} gives orders to a process, which reads them by {@link dev.rackcall.samples.demo.Child}.
 * Start with {@link dev.rackcall.samples.demo.Demo}, which compares the transports, or {@link dev.rackcall.samples.demo.RackDemo}.
 */
package dev.rackcall.samples.demo;
