package dev.rackcall.cli.view;

import dev.rackcall.rpc.Rpc;
import dev.rackcall.rpc.RpcService;
import java.util.Optional;

/** What a host's agent tells the {@code rackcall view} of other hosts. */
@RpcService(HostView.CHANNEL)
interface HostView {
    String CHANNEL = "/rackcall/view";

    /**
     * The last moment, which {@link HostStates#fit} has cut. Does not wait.
     *
     * @param after the sequence of the moment that the caller has; 0 for none
     * @return empty if there is no later one yet
     */
    @Rpc(idempotent = true)
    Optional<ViewState> latest(long after);
}
