/**
 * {@code rackcall view}: a page in the browser that shows which processes call each other. {@code ViewSampler} watches
 * their connections as {@code rackcall top} does, {@code ViewHistory} remembers the last minutes, and {@code ViewServer}
 * serves both to the page, whose files are resources of this package. Agents serve the same ({@code HostNumbers}) to the
 * page of other hosts, which follows them ({@code RackHosts}, {@code AgentWatch}).
 */
package dev.rackcall.cli.view;
