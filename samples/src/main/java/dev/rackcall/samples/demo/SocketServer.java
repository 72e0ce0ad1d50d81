package dev.rackcall.samples.demo;

import dev.rackcall.samples.documents.Store;
import dev.rackcall.shm.Arena;
import dev.rackcall.shm.ArenaSpec;
import dev.rackcall.shm.TableHome;
import dev.rackcall.shm.os.file.Mapping;
import dev.rackcall.shm.os.file.SharedFile;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** The same store behind a Unix domain socket, with a thread for each client. Its arena is its own: nobody else maps it. */
final class SocketServer implements StoreServer {
    private static final int ARENA = 1;
    private static final int PARTICIPANT = 1;
    private static final long FIRST_BYTES = 1 << 20;

    private final Store store = new Store();
    private final SharedFile file;
    private final Mapping mapping;
    private final Arena arena;
    private final Path socket;
    private final ServerSocketChannel listener;
    private final Set<SocketChannel> clients = ConcurrentHashMap.newKeySet();

    SocketServer(Path directory) throws IOException {
        file = SharedFile.memfd("rackcall-demo", StoreServer.quota());
        mapping = file.map();
        arena = Arena.create(
                new ArenaSpec(ARENA, mapping.memory(), file, 0, TableHome.PRIVATE, PARTICIPANT, FIRST_BYTES));
        socket = SocketProtocol.address(directory).getPath();
        listener = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
        listener.bind(SocketProtocol.address(directory));
        Thread.ofPlatform().daemon().name("accept").start(this::accept);
    }

    private void accept() {
        try {
            while (true) {
                SocketChannel client = listener.accept();
                clients.add(client);
                Thread.ofPlatform().daemon().name("client").start(() -> serve(client));
            }
        } catch (ClosedChannelException e) {
            // The end.
            return;
        } catch (IOException e) {
            throw new IllegalStateException("no more clients can be accepted", e);
        }
    }

    private void serve(SocketChannel client) {
        try (client) {
            new SocketSession(store, arena).serve(client);
        } catch (IOException e) {
            // The client is gone; what it has sent stays.
            return;
        } finally {
            clients.remove(client);
        }
    }

    @Override
    public Store store() {
        return store;
    }

    @Override
    public void close() throws IOException {
        listener.close();
        for (SocketChannel client : clients) {
            client.close();
        }
        Files.deleteIfExists(socket);
        store.close();
        mapping.close();
        file.close();
    }
}
