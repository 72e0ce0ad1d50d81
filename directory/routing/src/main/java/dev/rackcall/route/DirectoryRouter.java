package dev.rackcall.route;

import dev.rackcall.directory.DirectoryException;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.balance.RoutedConnection;
import dev.rackcall.rpc.spi.ClientConnection;
import dev.rackcall.rpc.spi.ClientSpec;
import dev.rackcall.rpc.spi.Router;
import dev.rackcall.rpc.spi.ServerEndpoint;
import dev.rackcall.rpc.spi.ServerSpec;

/**
 * Routes by a {@link dev.rackcall.directory.Directory}, in which this process is one member for all its channels and
 * servers.
 */
public final class DirectoryRouter implements Router {
    /** For {@code ServiceLoader}. */
    public DirectoryRouter() {}

    @Override
    public ClientConnection connect(ClientSpec spec, Membership membership) {
        try {
            return new RoutedConnection(ChannelRoutes.open(spec, membership));
        } catch (DirectoryException e) {
            throw failure("channel " + spec.channel(), e);
        }
    }

    @Override
    public Announcement announce(ServerSpec spec, ServerEndpoint endpoint, Membership membership) {
        try {
            return Announcer.announce(spec, endpoint, membership);
        } catch (DirectoryException e) {
            throw failure("announcing", e);
        }
    }

    /** Translates a failure of the directory into a failure of the call. */
    private static RpcException failure(String what, DirectoryException e) {
        Status.Code code = switch (e.reason()) {
            case INVALID -> Status.Code.INVALID_ARGUMENT;
            case UNAVAILABLE, LEASE_LOST -> Status.Code.UNAVAILABLE;
            case CONFLICT -> Status.Code.FAILED_PRECONDITION;
            case QUOTA_EXCEEDED, EXHAUSTED -> Status.Code.RESOURCE_EXHAUSTED;
            case CLOSED -> Status.Code.CANCELLED;
        };
        return code.with("%s: %s", what, e.getMessage()).asException(e);
    }
}
