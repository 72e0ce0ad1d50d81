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
 * The userfaultfds of the processes that a holder has sealed. Each process has one for all its sessions. It is closed
 * only after the process has ended, because closing it opens all its pages. Thread-safe.
 */
final class SealedProcesses implements AutoCloseable {
    private final Map<ProcessHandle, Held> known = new HashMap<>();

    /** The userfaultfd of one process. */
    static final class Held {
        final Userfault userfault;
        /** Whether the process was found unable to lift seals. Seals exist only then. */
        private boolean verified;
        /** The ranges that the process's sessions seal, from first address to end. */
        private final NavigableMap<Long, Long> ranges = new TreeMap<>();

        private Held(Userfault userfault) {
            this.userfault = userfault;
        }

        /**
         * Reserves a range for one session. Another session of the same memory would open pages of this one when it
         * checks them or ends.
         *
         * @throws IOException if another session has part of it
         */
        synchronized void occupy(long address, long bytes) throws IOException {
            Map.Entry<Long, Long> before = ranges.lowerEntry(address + bytes);
            if (before != null && before.getValue() > address) {
                throw new IOException("another session of this process seals some of that memory already");
            }
            ranges.put(address, address + bytes);
        }

        /** Ends the reservation of a range in which no page is sealed. */
        synchronized void vacate(long address) {
            ranges.remove(address);
        }

        private synchronized boolean isInUse() {
            return !ranges.isEmpty();
        }
    }

    /**
     * The userfaultfd of the process at the other end.
     *
     * @param hello carries it as the first of three descriptors, unless the process has sent it before
     * @throws IOException if the process sends a second one, or has sent none
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
                    "this process has given its userfaultfd to a holder that has ended, and may not open another: restart it");
        }
        return present;
    }

    /** Marks a process as checked. Seals may exist now, so this userfaultfd stays its only one. */
    synchronized void verified(UnixSocket socket, Held held) throws IOException {
        if (known.get(process(socket)) != held) {
            throw new IOException("this process has brought another userfaultfd meanwhile");
        }
        held.verified = true;
    }

    private void forgetEnded() {
        known.entrySet().removeIf(entry -> {
            // A session lasts while its receiver reads, because a process that shares the memory may outlive the
            // sealed one.
            boolean ended = !entry.getKey().isAlive() && !entry.getValue().isInUse();
            if (ended) {
                entry.getValue().userfault.close();
            }
            return ended;
        });
    }

    private static ProcessHandle process(UnixSocket socket) throws IOException {
        // Distinguishes a process from a later one with the same number.
        return ProcessHandle.of(socket.peer().pid())
                .orElseThrow(() -> new IOException("the asking process is not visible from here"));
    }

    @Override
    public synchronized void close() {
        known.values().forEach(held -> held.userfault.close());
        known.clear();
    }
}
