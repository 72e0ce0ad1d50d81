/**
 * An open device, and the control messages that hosts exchange over it. {@link dev.rackcall.cp.control.ControlPort}
 * sends requests as datagrams until it has the reply. {@link dev.rackcall.cp.control.RcConnection} and
 * {@link dev.rackcall.cp.control.ConnectedCallers} are the two ends of an RC connection that is set up in this way.
 */
package dev.rackcall.cp.control;
