package dev.rackcall.rpc.shm.server;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;

/** The flight recorder's event of a client that a channel's access list refuses. */
@Name("rackcall.AccessRefused")
@Label("Access Refused")
@Category("Rackcall")
@Description("A client that may not open a channel")
@StackTrace(false)
final class AccessRefused extends Event {
    @Label("Channel")
    String channel;

    @Label("Client")
    @Description("Its user, or the names in its certificate")
    String client;
}
