package dev.rackcall.shm.os.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.rackcall.shm.os.CallState;
import dev.rackcall.shm.os.Errno;
import dev.rackcall.shm.os.Uid;
import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.ChildJvm;
import dev.rackcall.testkit.Concurrently;
import dev.rackcall.testkit.MemoryGroup;
import java.io.BufferedReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Processes that reserve memory at the same time, under one limit. */
@Timeout(300)
class ReservationTurnTest {
    private static final long LIMIT = 768L << 20;
    private static final int PROCESSES = 4;
    private static final int ROUNDS = 10;

    @TempDir
    private Path folder;

    private volatile boolean stillInterrupted;

    /** Each test begins as a process that has not waited in vain yet. */
    @BeforeEach
    void forget() {
        ReservationTurn.forget();
    }

    @Test
    void shouldRefuseTheSurplusInsteadOfBeingKilled() throws Exception {
        Optional<MemoryGroup> made = MemoryGroup.make(LIMIT);
        assumeTrue(made.isPresent(), "NOT TESTED: no control group with a memory limit can be made here");
        List<ChildJvm> children = new ArrayList<>();
        try (MemoryGroup group = made.get()) {
            try {
                for (int i = 0; i < PROCESSES; i++) {
                    children.add(ChildJvm.of(MemoryFiller.class)
                            .flags("-Xmx32m")
                            .behind(group.command())
                            .start());
                }
                for (ChildJvm child : children) {
                    child.awaitLine("ready");
                }
                for (int round = 0; round < ROUNDS; round++) {
                    long reserved = fillOnce(children);
                    assertThat(group.kills()).as("killed in round %d", round).isZero();
                    assertThat(reserved).isBetween(LIMIT / 4, LIMIT);
                }
            } finally {
                children.forEach(ChildJvm::close);
            }
        }
    }

    private static long fillOnce(List<ChildJvm> children) throws Exception {
        for (ChildJvm child : children) {
            child.send("fill");
        }
        long reserved = 0;
        for (ChildJvm child : children) {
            String line = child.awaitLine("refused ");
            assertThat(line).contains("ENOMEM", "are kept for other needs");
            reserved += Long.parseLong(line.split(" ")[1]);
        }
        for (ChildJvm child : children) {
            child.send("free");
        }
        for (ChildJvm child : children) {
            child.awaitLine("freed");
        }
        return reserved;
    }

    @Test
    void shouldWaitForAnotherProcessesTurnButNotForEver() {
        int other = lockedElsewhere();
        CompletableFuture<Void> waiting = Concurrently.start(() -> {
            ReservationTurn.take(List.of(folder), TimeUnit.MINUTES.toNanos(5)).close();
            return null;
        });
        assertThat(waiting).isNotDone();
        Descriptor.close(other);
        Concurrently.get(waiting);

        int stopped = lockedElsewhere();
        long pause = ReservationTurn.unlockedNanos();
        ReservationTurn.take(List.of(folder), 1).close();
        // Not again.
        ReservationTurn.take(List.of(folder), TimeUnit.HOURS.toNanos(1)).close();
        assertThat(ReservationTurn.unlockedNanos()).isEqualTo(2 * pause);
        Descriptor.close(stopped);
    }

    @Test
    void shouldPauseWhileItWaitsEvenIfInterrupted() {
        int other = lockedElsewhere();
        Thread waiting = Thread.ofPlatform().unstarted(() -> {
            Thread.currentThread().interrupt();
            ReservationTurn.take(List.of(folder), TimeUnit.MINUTES.toNanos(5)).close();
            stillInterrupted = Thread.currentThread().isInterrupted();
        });
        waiting.start();
        // A thread that is interrupted does not pause, so it keeps that for later.
        Await.until("it can pause", () -> !waiting.isInterrupted());
        Descriptor.close(other);
        Await.until("it has had its turn", () -> waiting.getState() == Thread.State.TERMINATED);
        assertThat(stillInterrupted).isTrue();
    }

    @Test
    void shouldNotWaitForAProcessOfAnotherUser() throws Exception {
        assumeTrue(Uid.current() == 0, "NOT TESTED: only root can start a process of another user");
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-xr-x"));
        Process stranger = new ProcessBuilder(
                        "setpriv",
                        "--reuid=65534",
                        "--clear-groups",
                        "flock",
                        folder.toString(),
                        "sh",
                        "-c",
                        "echo locked; exec sleep 600")
                .redirectErrorStream(true)
                .start();
        try (BufferedReader said = stranger.inputReader()) {
            assertThat(said.readLine()).isEqualTo("locked");
            // Without the check of the user, it waits for longer than the test may take.
            ReservationTurn.take(List.of(folder), TimeUnit.HOURS.toNanos(1)).close();
        } finally {
            stranger.destroyForcibly().waitFor();
        }
    }

    private int lockedElsewhere() {
        int fd = OpenFile.open(folder, LibcFiles.O_RDONLY, 0);
        int exclusive = 2;
        assertThat(LibcFiles.flock(CallState.current().errnoSegment(), fd, exclusive))
                .as(Errno.name(CallState.current().errno()))
                .isZero();
        return fd;
    }
}
