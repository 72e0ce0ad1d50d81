package dev.rackcall.rdma;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.rackcall.rdma.PairGuests.Stage;
import dev.rackcall.rdma.end.ForeignPeerException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Which client loses its place to which. */
class PairGuestsTest {
    private static final InetAddress ONE = InetAddress.ofLiteral("127.0.0.1");
    private static final InetAddress OTHER = InetAddress.ofLiteral("127.0.0.2");

    private final PairGuests guests = new PairGuests();
    private final List<Socket> open = new ArrayList<>();
    private final Set<Socket> present = new HashSet<>();
    private ServerSocket port;

    @BeforeEach
    void listen() throws IOException {
        port = new ServerSocket(0, 10, ONE);
    }

    @AfterEach
    void close() throws IOException {
        port.close();
        for (Socket socket : open) {
            socket.close();
        }
    }

    /** The server's end of a client's connection. */
    private Socket from(InetAddress client) throws IOException {
        open.add(new Socket(ONE, port.getLocalPort(), client, 0));
        open.add(port.accept());
        return open.getLast();
    }

    private Socket admitted(InetAddress client) throws IOException {
        Socket socket = from(client);
        assertThat(guests.admit(socket)).isTrue();
        present.add(socket);
        return socket;
    }

    /** The threads of evicted clients end. */
    private void letEvictedLeave() {
        for (Socket socket : List.copyOf(present)) {
            if (socket.isClosed()) {
                present.remove(socket);
                guests.leaves(socket);
            }
        }
    }

    private Socket at(Stage stage, InetAddress client) throws Exception {
        Socket socket = admitted(client);
        for (Stage each : Stage.values()) {
            if (each != Stage.SILENT && each.compareTo(stage) <= 0) {
                guests.reaches(socket, each);
            }
        }
        return socket;
    }

    private List<Socket> fill(Stage stage, InetAddress client) throws Exception {
        List<Socket> all = new ArrayList<>();
        for (int i = 0; i < PairGuests.MOST_PER_STAGE; i++) {
            letEvictedLeave();
            all.add(at(stage, client));
        }
        return all;
    }

    /** They greeted, and would otherwise have kept all places but those that newcomers take from each other. */
    @Test
    void shouldKeepPlacesForNewcomersFromClientsThatOnlyGreet() throws Exception {
        fill(Stage.GREETED, OTHER);
        fill(Stage.GREETED, OTHER);
        List<Socket> newcomers = fill(Stage.SILENT, ONE);
        assertThat(newcomers).noneMatch(Socket::isClosed);
        guests.reaches(newcomers.getFirst(), Stage.GREETED);
        assertThat(newcomers.getFirst().isClosed()).isFalse();
    }

    @Test
    void shouldTakePlacesFromTheAddressThatHasMost() throws Exception {
        Socket honest = admitted(ONE);
        fill(Stage.SILENT, OTHER);
        fill(Stage.SILENT, OTHER);
        assertThat(honest.isClosed()).isFalse();
        guests.reaches(honest, Stage.GREETED);
        fill(Stage.GREETED, OTHER);
        guests.reaches(honest, Stage.PROVEN);
        fill(Stage.GREETED, OTHER);
        assertThat(honest.isClosed()).isFalse();
    }

    @Test
    void shouldGiveUpAPlaceOfALateStageOnlyToAnAddressThatHasFewer() throws Exception {
        List<Socket> proven = fill(Stage.PROVEN, OTHER);
        Socket more = at(Stage.GREETED, OTHER);
        assertThatThrownBy(() -> guests.reaches(more, Stage.PROVEN)).isInstanceOf(ForeignPeerException.class);
        assertThat(proven).noneMatch(Socket::isClosed);

        assertThat(at(Stage.PROVEN, ONE).isClosed()).isFalse();
        assertThat(proven.getFirst().isClosed()).isTrue();
        assertThat(proven.subList(1, proven.size())).noneMatch(Socket::isClosed);
    }

    @Test
    void shouldAdmitNoMoreThanThreadsAllow() throws Exception {
        List<Socket> all = new ArrayList<>();
        Socket next = from(ONE);
        while (guests.admit(next)) {
            all.add(next);
            next = from(ONE);
        }
        assertThat(guests.threads()).isEqualTo(all.size()).isEqualTo(4 * PairGuests.MOST_PER_STAGE);
        guests.leaves(all.getFirst());
        assertThat(guests.admit(next)).isTrue();
    }
}
