package dev.rackcall.sandbox;

import dev.rackcall.sandbox.os.Userfault;
import dev.rackcall.shm.os.socket.Message;
import dev.rackcall.shm.os.socket.UnixSocket;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;

/**
 * The userfaultfds of the processes that a holder has sealed: one each, for all sessions of the process, until it has ended. To close one before would open all
 * its pages. Thread-safe.
 */
final class SealedProcesses implements AutoCloseable {
    private final Map<ProcessHandle, Held> known = new HashMap<>();

    /** One process's. */
    static final class Held {
        final Userfault userfault;
        /** Whether the process was found unable to lift seals, so that there are some. */
        private boolean verified;
        /** What its sessions seal: first addresses, and the first behind. */
        private final NavigableMap<Long, Long> ranges = new TreeMap<>();

        private Held(Userfault userfault) {
            this.userfault = userfault;
        }

        /**
         * Keeps a range for one session: another one of the same memory would open its pages, by its check or by its end.
         *
         * @throws IOException if a session has some of it
         */
        synchronized void occupy(long address, long bytes) throws IOException {
            Map.Entry<Long, Long> before = ranges.lowerEntry(address + bytes);
            if (before != null && before.getValue() > address) {
                throw new IOException("another session of this process seals some of that memory already");
            }
            ranges.put(address, address + bytes);
        }

        /** No page of the range is sealed any more. */
        synchronized void vacate(long address) {
            ranges.remove(address);
        }

        private synchronized boolean isInUse() {
            return !ranges.isEmpty();
        }
    }

    /**
     * That of the process at the other end.
     *
     * @param hello carries it, as the first of three descriptors, or the process has brought it before
     * @throws IOException if it brings a second one, or none
     */
    synchronized Held of(UnixSocket socket, Message hello) throws IOException {
        forgetEnded();
        ProcessHandle process = process(socket);
        Held present = known.get(process);
        if (hello.fds().length == 3) {
            if (present != null && present.verified) {
                throw new IOException("this process has given its userfaultfd before");
            }
            Held brought = new Held(Userfault.adoptChecked(hello.take(0)));
            known.put(process, brought);
            if (present != null) {
                present.userfault.close();
            }
            return brought;
        }
        if (present == null) {
            throw new IOException(
                    "this process has given its userfaultfd to a holder that has ended, and may not open another: start it anew");
        }
        return present;
    }

    /** From now on there may be seals: that userfaultfd stays the process's only one. */
    synchronized void verified(UnixSocket socket, Held held) throws IOException {
        if (known.get(process(socket)) != held) {
            throw new IOException("this process has brought another userfaultfd meanwhile");
        }
        held.verified = true;
    }

    private void forgetEnded() {
        known.entrySet().removeIf(entry -> {
            // While a receiver reads, its session is there: a process that shares the memory may outlive the one that
            // sealed it.
            boolean ended = !entry.getKey().isAlive() && !entry.getValue().isInUse();
            if (ended) {
                entry.getValue().userfault.close();
            }
            return ended;
        });
    }

    private static ProcessHandle process(UnixSocket socket) throws IOException {
        // Knows a process from one that later has its number.
        return ProcessHandle.of(socket.peer().pid())
                .orElseThrow(() -> new IOException("the process that asks cannot be seen from here"));
    }

    @Override
    public synchronized void close() {
        known.values().forEach(held -> held.userfault.close());
        known.clear();
    }
}
