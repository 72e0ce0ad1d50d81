package dev.rackcall.grpc;

import io.grpc.EquivalentAddressGroup;
import io.grpc.NameResolver;
import io.grpc.NameResolverRegistry;
import io.grpc.Status;
import io.grpc.StatusOr;
import io.grpc.SynchronizationContext;
import io.grpc.internal.RetryingNameResolver;
import java.net.URI;
import java.util.List;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Gives gRPC the Rackcall servers of a channel while there are any, and otherwise the addresses that the fallback's own
 * resolver finds. gRPC's load balancing connects new calls to them, and leaves running calls where they are. Methods run
 * in the channel's synchronisation context.
 */
final class FallbackNameResolver extends NameResolver {
    /** The fallback's target, which the channel's builder gives to the resolver. */
    static final Args.Key<URI> TARGET = Args.Key.create("dev.rackcall.grpc.fallback");

    /** How long an old failure of the fallback's resolver waits for a newer result. */
    private static final int NEXT_RESULT_SECONDS = 5;

    /** How long the fallback's resolver may take for its first result: as long as DNS asks three servers twice. */
    private static final int FIRST_RESULT_SECONDS = 30;

    private static final Logger LOG = LoggerFactory.getLogger(FallbackNameResolver.class);

    private final URI target;
    private final NameResolver rackcall;
    private final NameResolver network;
    private final SynchronizationContext context;
    private final ScheduledExecutorService timers;
    private Listener2 listener;
    /** Why new calls go to the fallback. Null while they do not, and until the first look for servers has ended. */
    private Status reason;
    /** What the fallback's resolver found last; null before its first result. */
    private ResolutionResult found;
    /** Tells the channel an old failure, or that there is no result. Null until one of them had to wait for a result. */
    private SynchronizationContext.ScheduledHandle overdue;

    private boolean closed;

    /**
     * Follows these two.
     *
     * @param rackcall reports an error while there is no server
     * @param network the fallback's resolver
     */
    FallbackNameResolver(NameResolver rackcall, URI target, NameResolver network, Args args) {
        // gRPC repeats a failed resolution only if it hears of the failure; it does not while the fallback serves.
        this.rackcall = RetryingNameResolver.wrap(rackcall, args);
        this.target = target;
        this.network = network;
        this.context = args.getSynchronizationContext();
        this.timers = args.getScheduledExecutorService();
    }

    /**
     * The resolver of a target.
     *
     * @throws IllegalArgumentException if that resolver refuses it
     */
    static NameResolver resolverOf(URI target, Args args) {
        NameResolver made;
        try {
            made = NameResolverRegistry.getDefaultRegistry()
                    .getProviderForScheme(target.getScheme())
                    .newNameResolver(target, args);
        } catch (RuntimeException e) {
            throw new IllegalArgumentException(
                    "the fallback " + target + " is malformed: " + e.getMessage() + FallbackTarget.EXAMPLE, e);
        }
        if (made == null) {
            throw new IllegalArgumentException("the resolver of the fallback " + target + " refuses it");
        }
        return made;
    }

    /** The fallback's, because TLS proves it; Rackcall's servers only see it. */
    @Override
    public String getServiceAuthority() {
        return network.getServiceAuthority();
    }

    @Override
    public void start(Listener2 given) {
        listener = given;
        // At once, so that the addresses are there when the last server ends.
        network.start(new Found(this::networkFound));
        rackcall.start(new Found(this::rackcallFound));
    }

    @Override
    public void refresh() {
        boolean fallsBack = reason != null;
        rackcall.refresh();
        if (fallsBack) {
            network.refresh();
        }
    }

    @Override
    public void shutdown() {
        closed = true;
        stopWaiting();
        rackcall.shutdown();
        network.shutdown();
    }

    private Status rackcallFound(ResolutionResult result) {
        StatusOr<List<EquivalentAddressGroup>> servers = result.getAddressesOrError();
        boolean fellBack = reason != null;
        if (servers.hasValue()) {
            if (fellBack) {
                LOG.info("new calls go to Rackcall's servers again, not to {}", target);
            }
            reason = null;
            stopWaiting();
            return listener.onResult2(result);
        }
        reason = servers.getStatus();
        if (!fellBack) {
            LOG.info("new calls go to {}: {}", target, reason.getDescription());
            tellKnown();
            // Addresses may be old, too.
            network.refresh();
        }
        return reason;
    }

    /**
     * Tells known addresses at once. An old failure, and a lack of any result, first wait for a result, so that they do
     * not fail calls; but not for ever, since a resolver may ignore a refresh, or say nothing at all.
     */
    private void tellKnown() {
        if (found != null && found.getAddressesOrError().hasValue()) {
            tellNetwork();
        } else {
            int seconds = found == null ? FIRST_RESULT_SECONDS : NEXT_RESULT_SECONDS;
            overdue = context.schedule(this::tellNetwork, seconds, TimeUnit.SECONDS, timers);
        }
    }

    private void stopWaiting() {
        if (overdue != null) {
            overdue.cancel();
        }
    }

    private Status networkFound(ResolutionResult result) {
        found = result;
        stopWaiting();
        return reason == null ? Status.OK : tellNetwork();
    }

    private Status tellNetwork() {
        if (found == null) {
            return listener.onResult2(failure(Status.UNAVAILABLE.withDescription(
                    "its name resolver has found nothing within " + FIRST_RESULT_SECONDS + " s")));
        }
        StatusOr<List<EquivalentAddressGroup>> addresses = found.getAddressesOrError();
        return listener.onResult2(addresses.hasValue() ? found : failure(addresses.getStatus()));
    }

    /** Says both what Rackcall and what the fallback lacks. */
    private ResolutionResult failure(Status ofNetwork) {
        return result(ofNetwork.withDescription(
                reason.getDescription() + "; the fallback " + target + ": " + ofNetwork.getDescription()));
    }

    private static ResolutionResult result(Status error) {
        return ResolutionResult.newBuilder()
                .setAddressesOrError(StatusOr.fromStatus(error))
                .build();
    }

    /** Brings the results of one of the resolvers into the channel's context, until this resolver is shut down. */
    private final class Found extends Listener2 {
        private final Function<ResolutionResult, Status> receiver;

        Found(Function<ResolutionResult, Status> receiver) {
            this.receiver = receiver;
        }

        @Override
        public Status onResult2(ResolutionResult result) {
            return closed ? Status.OK : receiver.apply(result);
        }

        @Override
        public void onResult(ResolutionResult result) {
            context.execute(() -> onResult2(result));
        }

        @Override
        public void onError(Status error) {
            onResult(result(error));
        }
    }
}
