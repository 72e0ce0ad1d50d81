package dev.rackcall.rpc.shm.client;

import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.Status;
import dev.rackcall.shm.Ref;
import dev.rackcall.shm.RefException;
import dev.rackcall.shm.types.SharedObject;
import java.lang.foreign.MemorySegment;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Decides which shared objects may be passed over a connection: those that its server maps, too. Thread-safe. */
final class PassedObjects {
    /** The connections of this process: an argument in the shared arena may have been made through any of them. */
    private static final Set<ClientMemory> ALL = ConcurrentHashMap.newKeySet();

    private PassedObjects() {}

    static void register(ClientMemory connection) {
        ALL.add(connection);
    }

    static void forget(ClientMemory connection) {
        ALL.remove(connection);
    }

    /**
     * The Ref by which the server finds an argument.
     *
     * @throws RpcException INVALID_ARGUMENT if the server cannot find it; UNAVAILABLE if the argument's connection has
     *     ended
     */
    static long pass(ClientMemory connection, Object sharedObject, String method, String argument) {
        if (sharedObject == null) {
            throw Status.Code.INVALID_ARGUMENT
                    .with("%s: argument '%s' is null; shared objects are never null", method, argument)
                    .asException();
        }
        long ref = liveRef(sharedObject, method, argument);
        MemorySegment memory = SharedObject.spaceOf(sharedObject).memory(ref);
        if (connection.maps(memory)) {
            return ref;
        }
        ClientMemory holder = elsewhere(connection, ref, memory).orElse(null);
        if (holder == null) {
            if (isGone(memory)) {
                throw gone(method, argument);
            }
            throw Status.Code.INVALID_ARGUMENT
                    .with(
                            "%s: argument '%s' lives in arena %d, which is not of this channel's connection; build it in"
                                    + " channel.newScope() or copy it there with DeepCopy.DEFAULT.copy",
                            method, argument, Ref.arenaId(ref))
                    .asException();
        }
        holder.publish(ref);
        return ref;
    }

    /** Whether the server can find that object by its Ref. */
    static boolean isReachable(ClientMemory connection, Object sharedObject) {
        if (!(sharedObject instanceof SharedObject)) {
            return false;
        }
        long ref = SharedObject.refOf(sharedObject);
        MemorySegment memory = SharedObject.spaceOf(sharedObject).memory(ref);
        return connection.maps(memory) || elsewhere(connection, ref, memory).isPresent();
    }

    private static long liveRef(Object sharedObject, String method, String argument) {
        try {
            return SharedObject.liveRefOf(sharedObject);
        } catch (RefException | IllegalArgumentException e) {
            throw cannotBePassed(method, argument, e);
        } catch (IllegalStateException e) {
            // Unmapped.
            throw gone(method, argument);
        }
    }

    static RpcException cannotBePassed(String method, String argument, RuntimeException cause) {
        return Status.Code.INVALID_ARGUMENT
                .with("%s: argument '%s' cannot be passed: %s", method, argument, cause.getMessage())
                .asException(cause);
    }

    /**
     * Another connection to the same channel, through which this process maps an object that is open to all of the
     * channel's clients. Compared by memory: two servers may use the same arena number.
     */
    private static Optional<ClientMemory> elsewhere(ClientMemory connection, long ref, MemorySegment memory) {
        for (ClientMemory other : ALL) {
            if (other != connection && other.isSharedHere(memory)) {
                return other.hasSharedArenaOf(connection) ? Optional.of(other) : Optional.empty();
            }
            if (other != connection && other.isOpenFor(connection, ref, memory)) {
                return Optional.of(other);
            }
        }
        return Optional.empty();
    }

    /** Whether {@code memory} belongs to a connection that has ended. */
    private static boolean isGone(MemorySegment memory) {
        return !memory.scope().isAlive() || ALL.stream().anyMatch(each -> each.hasEnded() && each.maps(memory));
    }

    /** A caller that retries on UNAVAILABLE builds the argument again. */
    private static RpcException gone(String method, String argument) {
        return Status.Code.UNAVAILABLE
                .with(
                        "%s: argument '%s' is gone with the connection that it was built for; build it anew in a new scope",
                        method, argument)
                .asException();
    }
}
