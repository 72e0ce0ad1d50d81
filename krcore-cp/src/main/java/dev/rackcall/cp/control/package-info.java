/**
 * An open device, and the control messages that hosts exchange over it. {@link dev.rackcall.cp.control.ControlPort}
 * sends requests as datagrams until it has the reply. {@link dev.rackcall.cp.control.RcConnection} and
 * {@link dev.rackcall.cp.control.ConnectedCallers} connect RC queue pairs that way, one end each.
 */
package dev.rackcall.cp.control;
