package dev.rackcall.rpc.shm.client;

import dev.rackcall.rpc.EnforcedSeals;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.spi.ClientSpec;
import dev.rackcall.rpc.spi.LimitedLog;
import dev.rackcall.sandbox.SealException;
import dev.rackcall.sandbox.SealSession;
import dev.rackcall.sandbox.os.UnsupportedFeatureException;
import dev.rackcall.shm.os.OsException;
import java.nio.ByteBuffer;
import java.time.Duration;

/**
 * Hands the seals of a new connection over to a holder, before they are used. First the holder checks this process,
 * then the server joins, then this process gives up what could lift seals.
 */
public final class SealEnforcement {
    private static final LimitedLog LOG = LimitedLog.of(SealEnforcement.class);
    /** Bound on the holder's check of this process, and on the server's joining. */
    private static final Duration BOUND = Duration.ofSeconds(10);

    private SealEnforcement() {}

    /**
     * Hands the seals over if the channel requests it.
     *
     * @throws RpcException FAILED_PRECONDITION if the channel requires it and it cannot be done; the connection is
     *     closed then
     */
    public static ShmClientConnection arrange(ShmClientConnection connection, ClientSpec spec) {
        EnforcedSeals asked = spec.sealing().enforced().orElse(null);
        if (asked == null) {
            return connection;
        }
        try {
            enforce(connection, asked, Math.max(1, spec.sealing().kept()));
        } catch (SealException | UnsupportedFeatureException | OsException | RpcException e) {
            if (asked.isRequired()) {
                connection.close();
                throw cannot(spec.channel(), e.getMessage()).asException(e);
            }
            LOG.info("channel {}: its seals are not enforced: {}", spec.channel(), e.getMessage());
        }
        return connection;
    }

    private static void enforce(ShmClientConnection connection, EnforcedSeals asked, int batch) {
        SealSession session = connection.arenas.openSealSession(asked.holder(), number -> join(connection, number));
        try {
            connection.arenas.enforcedBy(session.seals(BOUND, batch));
        } catch (RuntimeException | Error e) {
            session.close();
            throw e;
        }
    }

    private static void join(ShmClientConnection connection, byte[] session) {
        ByteBuffer number = ByteBuffer.wrap(session);
        connection.enforceSeals(number.getLong(), number.getLong(), BOUND);
        // From here on scopes that the holder does not seal are sent as snapshots.
        connection.arenas.withoutSeals();
    }

    /** Refuses a channel that requires enforced seals where there are none. */
    public static void requireNone(ClientSpec spec, String why) {
        if (spec.sealing().enforced().filter(EnforcedSeals::isRequired).isPresent()) {
            throw cannot(spec.channel(), why).asException();
        }
    }

    private static Status cannot(String channel, String why) {
        return Status.Code.FAILED_PRECONDITION.with(
                "channel %s: its seals cannot be enforced, as required: %s", channel, why);
    }
}
