package dev.rackcall.grpc;

import dev.rackcall.rpc.RpcException;
import io.grpc.NameResolver;
import io.grpc.NameResolverProvider;
import java.net.SocketAddress;
import java.net.URI;
import java.util.Collection;
import java.util.List;
import java.util.Optional;

/**
 * Resolves targets such as {@code rackcall:///shop/cart} to the living servers of that channel, and {@code
 * rackcall:///shop/cart?address=soft://host:18515} to that server, and {@code
 * rackcall:///shop/cart?directory=file:///a/folder} to those that a directory names; found by the service loader. While
 * a channel with a fallback has no server, its resolver finds the fallback's addresses.
 */
public final class RackcallNameResolverProvider extends NameResolverProvider {
    private static final int PRIORITY = 5;

    @Override
    protected boolean isAvailable() {
        return true;
    }

    @Override
    protected int priority() {
        return PRIORITY;
    }

    @Override
    public String getDefaultScheme() {
        return RackcallSocketAddress.SCHEME;
    }

    @Override
    public Collection<Class<? extends SocketAddress>> getProducedSocketAddressTypes() {
        return List.of(RackcallSocketAddress.class);
    }

    @Override
    public NameResolver newNameResolver(URI target, NameResolver.Args args) {
        if (!RackcallSocketAddress.SCHEME.equals(target.getScheme())) {
            return null;
        }
        if (target.getAuthority() != null || target.getPath() == null) {
            throw new IllegalArgumentException(
                    "the target " + target + " names a host; write rackcall:///name/of/channel, with three slashes");
        }
        // Channels whose builder has split it off the target.
        URI fallback = args.getArg(FallbackNameResolver.TARGET);
        try {
            NameResolver rackcall = rackcall(target, fallback != null, args);
            return fallback == null
                    ? rackcall
                    : new FallbackNameResolver(
                            rackcall, fallback, FallbackNameResolver.resolverOf(fallback, args), args);
        } catch (NoClassDefFoundError e) {
            throw new IllegalArgumentException(
                    "the target " + target + " needs the artifact rackcall-directory on the class path", e);
        } catch (RpcException e) {
            throw new IllegalArgumentException(
                    "the target " + target + ": " + e.status().description(), e);
        }
    }

    private static NameResolver rackcall(URI target, boolean hasFallback, NameResolver.Args args) {
        Optional<URI> directory = RackcallSocketAddress.directoryOf(target);
        if (directory.isPresent()) {
            return new DirectoryNameResolver(target.getPath(), directory.get(), hasFallback, args);
        }
        RackcallSocketAddress address = RackcallSocketAddress.ofTarget(target);
        if (address.remote().isEmpty()) {
            return new RackcallNameResolver(address, hasFallback, args);
        }
        if (hasFallback) {
            throw new IllegalArgumentException("the target " + target
                    + " names a server's address, so nothing tells when that server has gone; a fallback needs a"
                    + " directory or a runtime folder");
        }
        return new FixedNameResolver(address);
    }
}
