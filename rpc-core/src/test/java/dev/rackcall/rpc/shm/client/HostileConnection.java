package dev.rackcall.rpc.shm.client;

import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.runtime.RuntimeDirectory;
import dev.rackcall.rpc.shm.protocol.ControlLayout;
import dev.rackcall.rpc.shm.protocol.Handshake;
import dev.rackcall.rpc.shm.protocol.SlotLayout;
import dev.rackcall.rpc.spi.ServiceDefinition;
import dev.rackcall.shm.Arena;
import dev.rackcall.shm.ArenaSpec;
import dev.rackcall.shm.ArenaTable;
import dev.rackcall.shm.Ref;
import dev.rackcall.shm.TableHome;
import dev.rackcall.shm.os.file.Mapping;
import dev.rackcall.shm.os.file.SharedFile;
import dev.rackcall.shm.os.socket.Message;
import dev.rackcall.shm.os.socket.UnixSocket;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * The client's end of a connection after a proper handshake, for tests that write there what no honest client does. All of its memory can be written, and requests can be sent that are right but for what is asked. Used by one
 * thread.
 */
final class HostileConnection implements AutoCloseable {
    /** In every text of the honest clients: an answer that shows it shows their memory. */
    static final String CANARY = "another-clients-secret";

    static final int SLOTS = 64;
    static final long QUOTA = 1 << 20;
    /** Far beyond what any answer takes. */
    private static final long HANG_NANOS = Duration.ofSeconds(20).toNanos();

    private static final byte[] CANARY_BYTES = CANARY.getBytes(StandardCharsets.UTF_8);
    private static final int LONGEST_SEARCH = 64 << 10;
    /** Magic, version, number and quota of an arena; not how much of it is reserved. */
    private static final int IDENTITY_BYTES = 24;

    /** How waiting for answers ended. */
    enum End {
        ANSWERED,
        CLOSED,
        HUNG
    }

    final UnixSocket socket;
    final MemorySegment memory;
    final MemorySegment shared;
    final Handshake.ServerHello serverHello;
    final SharedFile file;
    private final SharedFile sharedFile;
    private final Mapping mapping;
    private final Mapping sharedMapping;
    private final ArenaTable refs = ArenaTable.create();
    private final Arena requestArena;
    /** How shared arenas began when they were first joined, by number. */
    private final Map<Integer, byte[]> sharedIdentities;

    private final List<Long> pending = new ArrayList<>();
    private final List<Long> runs = new ArrayList<>();
    private long ticket;
    private int fillers;
    /** Writes went where requests may be: which request the server waits for is unknown. */
    private boolean spoilt;
    /** The header may say that the server watches while it sleeps: ring always. */
    private boolean headerSpoilt;

    private HostileConnection(
            UnixSocket socket,
            Message answer,
            Handshake.ServerHello serverHello,
            Map<Integer, byte[]> sharedIdentities) {
        this.sharedIdentities = sharedIdentities;
        this.socket = socket;
        this.serverHello = serverHello;
        this.file = answer.adopt(0);
        this.sharedFile = answer.adopt(1);
        this.mapping = file.map();
        this.sharedMapping = sharedFile.map();
        this.memory = mapping.memory();
        this.shared = sharedMapping.memory();
        this.requestArena = Arena.create(new ArenaSpec(
                serverHello.request().id(),
                memory.asSlice(
                        serverHello.request().offset(), serverHello.request().bytes()),
                file,
                serverHello.request().offset(),
                TableHome.PRIVATE,
                1,
                32 << 10));
        refs.add(requestArena);
        sharedIdentities.computeIfAbsent(
                serverHello.shared().id(),
                id -> shared.asSlice(0, IDENTITY_BYTES).toArray(ValueLayout.JAVA_BYTE));
    }

    static HostileConnection open(Path directory, String channel, Map<Integer, byte[]> sharedIdentities)
            throws IOException {
        UnixSocket socket = dial(directory, channel);
        try {
            socket.send(new Handshake.ClientHello(ControlLayout.VERSION, channel, SLOTS, QUOTA).encode());
            Message answer =
                    socket.receive(Duration.ofSeconds(20)).orElseThrow(() -> new IOException("no serverHello"));
            if (answer.isEnd()) {
                throw new IOException("hung up instead of a serverHello");
            }
            Handshake.ServerHello serverHello = Handshake.ServerHello.decode(answer.bytes());
            if (!serverHello.status().isOk()) {
                throw new IOException("refused: " + serverHello.status());
            }
            return new HostileConnection(socket, answer, serverHello, sharedIdentities);
        } catch (IOException | RuntimeException e) {
            socket.close();
            throw e;
        } catch (Handshake.MalformedException e) {
            socket.close();
            throw new IOException(e);
        }
    }

    static UnixSocket dial(Path directory, String channel) {
        return UnixSocket.connect(
                RuntimeDirectory.at(directory).instances(channel).getFirst().socket(), Duration.ofSeconds(20));
    }

    // ---- places

    MemorySegment area(String name) {
        return switch (name) {
            case "control" -> memory.asSlice(0, ControlLayout.FIRST_SLOT);
            case "slots" -> memory.asSlice(ControlLayout.FIRST_SLOT, (long) SLOTS * SlotLayout.BYTES);
            case "slot" -> memory.asSlice(slot(), SlotLayout.BYTES);
            case "request" -> requestArena.memory();
            case "reply" ->
                memory.asSlice(serverHello.reply().offset(), serverHello.reply().bytes());
            case "shared" -> shared;
            default -> throw new IllegalArgumentException("no area " + name);
        };
    }

    Arena requestArena() {
        return requestArena;
    }

    ArenaTable refs() {
        return refs;
    }

    /** The shared arena, as an honest participant joins it; what earlier cases have done to its identity is undone. */
    Arena sharedArena() {
        byte[] identity = sharedIdentities.get(serverHello.shared().id());
        MemorySegment.copy(identity, 0, shared, ValueLayout.JAVA_BYTE, 0, identity.length);
        Arena arena = Arena.attach(new ArenaSpec(
                serverHello.shared().id(), shared, sharedFile, 0, TableHome.SHARED, serverHello.participant(), 0));
        refs.remove(arena.id());
        refs.add(arena);
        return arena;
    }

    private long slot() {
        return ControlLayout.slot((int) ticket & (SLOTS - 1));
    }

    /** Notes a write where nothing should be written. */
    void spoil(String area) {
        spoilt |= area.startsWith("slot");
        headerSpoilt |= area.equals("control");
    }

    boolean isSpoilt() {
        return spoilt;
    }

    // ---- requests

    /** Writes a payload to where {@link #publish} sends it from; returns whether it is outside the slot. */
    boolean payload(byte[] bytes, boolean outside) {
        if (!outside && bytes.length <= SlotLayout.REQUEST_INLINE_BYTES) {
            MemorySegment.copy(
                    bytes, 0, memory, ValueLayout.JAVA_BYTE, slot() + SlotLayout.REQUEST_INLINE, bytes.length);
            return false;
        }
        long run = requestArena.allocateRun(Math.max(1, bytes.length));
        runs.add(run);
        MemorySegment.copy(bytes, 0, requestArena.memory(), ValueLayout.JAVA_BYTE, Ref.offset(run), bytes.length);
        SlotLayout.requestOutside(memory, slot(), bytes.length, run);
        return true;
    }

    void place(long length, long ref) {
        SlotLayout.requestOutside(memory, slot(), length, ref);
    }

    /** Writes what an isolated request says its arguments' scope or seal is. */
    void isolation(long bits) {
        SlotLayout.requestIsolation(memory, slot(), bits);
    }

    void deadline(long deadline) {
        SlotLayout.requestDeadline(memory, slot(), deadline);
    }

    /** Publishes the next request; its ticket is right, everything else is as {@code word} says. */
    void publish(long word) {
        boolean skipped = (SlotLayout.flags(word) & SlotLayout.SKIP) != 0;
        SlotLayout.publishRequest(memory, slot(), (word & ~0xffff_ffffL) | SlotLayout.word(ticket, 0, 0, 0));
        if (skipped) {
            fillers++;
        } else {
            // An answer says that all requests before it were taken, too.
            fillers = 0;
            pending.add(ticket);
        }
        ticket++;
        VarHandle.fullFence();
        if (headerSpoilt || !ControlLayout.isWatched(memory)) {
            socket.ring();
        }
    }

    /** The word of the answer in a slot. */
    long response(int index) {
        return SlotLayout.responseWord(memory, ControlLayout.slot(index));
    }

    /** The status of the answer in a slot. */
    Status.Code codeOf(int index) {
        return Status.Code.ofNumber(SlotLayout.methodOrStatus(response(index)));
    }

    /** The number of a service's method. */
    static int method(Class<?> service, String name) {
        return ServiceDefinition.of(service).methods().stream()
                .filter(method -> method.name().equals(name))
                .findFirst()
                .orElseThrow()
                .index();
    }

    /** Whether the slot of the next request is free, as an honest client would find it. */
    boolean hasRoom() {
        return !pending.contains(ticket - SLOTS);
    }

    /** Fillers have no answer: so many of them were sent last that it is unknown whether the server has taken them. */
    boolean endsWithFillers() {
        return fillers > 0;
    }

    // ---- answers

    /** Waits for the answers to everything that was sent, or for the end of the connection. */
    End await() {
        if (headerSpoilt) {
            goRoundAllSlots();
        }
        long end = System.nanoTime() + HANG_NANOS;
        for (int spins = 1; !isAnswered(); spins++) {
            if (spins % 256 == 0) {
                if (socket.drain() < 0) {
                    return End.CLOSED;
                }
                if (spoilt) {
                    // Nothing can be expected; but the server has had time to stumble.
                    return End.ANSWERED;
                }
                if (System.nanoTime() - end > 0) {
                    return End.HUNG;
                }
                Thread.yield();
            }
            Thread.onSpinWait();
        }
        runs.forEach(requestArena::freeRun);
        runs.clear();
        return socket.drain() < 0 ? End.CLOSED : End.ANSWERED;
    }

    /**
     * Repairs what the header says about the slots that requests lie in. Until then the server looks elsewhere for them;
     * from then on it must find them.
     */
    private void goRoundAllSlots() {
        memory.set(ValueLayout.JAVA_LONG, ControlLayout.NARROW, 0);
        memory.set(ValueLayout.JAVA_LONG, ControlLayout.WIDE, 0);
        VarHandle.fullFence();
        socket.ring();
    }

    private boolean isAnswered() {
        pending.removeIf(sent -> {
            long slot = ControlLayout.slot((int) (long) sent & (SLOTS - 1));
            long word = SlotLayout.responseWord(memory, slot);
            if (!SlotLayout.isOf(word, sent)) {
                return false;
            }
            search(slot, word);
            return true;
        });
        return pending.isEmpty();
    }

    /** @throws AssertionError if the answer shows memory of an honest client */
    private void search(long slot, long word) {
        byte[] answer;
        if ((SlotLayout.flags(word) & SlotLayout.OUTSIDE) == 0) {
            int length = Math.min(SlotLayout.inlineLength(word), SlotLayout.RESPONSE_INLINE_BYTES);
            answer = memory.asSlice(slot + SlotLayout.RESPONSE_INLINE, length).toArray(ValueLayout.JAVA_BYTE);
        } else {
            long offset = Ref.offset(SlotLayout.responseRef(memory, slot));
            long length = Math.clamp(SlotLayout.responseLength(memory, slot), 0, LONGEST_SEARCH);
            if (offset > serverHello.reply().bytes() - length) {
                return;
            }
            answer = area("reply").asSlice(offset, length).toArray(ValueLayout.JAVA_BYTE);
        }
        if (new String(answer, StandardCharsets.ISO_8859_1)
                .contains(new String(CANARY_BYTES, StandardCharsets.ISO_8859_1))) {
            throw new AssertionError("an answer shows memory of another client");
        }
    }

    @Override
    public void close() {
        socket.close();
        mapping.close();
        sharedMapping.close();
        file.close();
        sharedFile.close();
    }
}
