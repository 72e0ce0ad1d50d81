package dev.rackcall.sandbox;

import dev.rackcall.sandbox.os.Userfault;
import dev.rackcall.shm.os.Message;
import dev.rackcall.shm.os.UnixSocket;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;

/**
 * The userfaultfds of the processes that a holder has sealed: one each, for all sessions of the process, until it has ended. To close one before would open all
 * its pages. Thread-safe.
 */
final class SealedProcesses implements AutoCloseable {
    private final Map<ProcessHandle, Held> known = new HashMap<>();

    private static final class Held {
        private final Userfault userfault;
        /** Whether the process was found unable to lift seals, so that there are some. */
        private boolean verified;

        private Held(Userfault userfault) {
            this.userfault = userfault;
        }
    }

    /**
     * That of the process at the other end.
     *
     * @param hello carries it, as the first of three descriptors, or the process has brought it before
     * @throws IOException if it brings a second one, or none
     */
    synchronized Userfault of(UnixSocket socket, Message hello) throws IOException {
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
            return brought.userfault;
        }
        if (present == null) {
            throw new IOException(
                    "this process has given its userfaultfd to a holder that has ended, and may not open another: start it anew");
        }
        return present.userfault;
    }

    /** From now on there may be seals: that userfaultfd stays the process's only one. */
    synchronized void verified(UnixSocket socket, Userfault userfault) throws IOException {
        Held present = known.get(process(socket));
        if (present == null || present.userfault != userfault) {
            throw new IOException("this process has brought another userfaultfd meanwhile");
        }
        present.verified = true;
    }

    private void forgetEnded() {
        known.entrySet().removeIf(entry -> {
            boolean ended = !entry.getKey().isAlive();
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
