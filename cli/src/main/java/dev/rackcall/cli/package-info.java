/**
 * The {@code rackcall} command: one class per subcommand, joined by {@link dev.rackcall.cli.RackcallCommand}.
 * The {@code ./rackcall} launcher builds the project and starts that class. {@code demo} lives in the samples module and
 * {@code bench} in the perf module; what {@code doctor} says about a host comes from the {@code ...Checks} classes here.
 */
package dev.rackcall.cli;
