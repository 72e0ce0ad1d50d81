package dev.rackcall.rdma.queue;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.rdma.OneReception;
import dev.rackcall.testkit.Await;
import java.net.URI;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What becomes of a server's port when its agent has ended. */
class QueueListenerTest {
    private QueueHosts hosts;
    private QueueListener listener;

    @BeforeEach
    void open() {
        hosts = QueueHosts.served();
        listener = new QueueListener(hosts.servers(), URI.create("vq://server:65005"), new OneReception(hello -> {
            throw new IllegalStateException("no client is expected");
        }));
        assertThat(listener.isTrying()).isFalse();
    }

    @AfterEach
    void close() {
        listener.close();
        hosts.close();
    }

    @Test
    void shouldListenAgainAtTheNextAgent() {
        hosts.closeDoor(QueueHosts.SERVER);
        Await.until("the port is lost", () -> !listener.isListening());
        assertThat(listener.isTrying()).isTrue();
        hosts.openDoor(QueueHosts.SERVER);
        Await.until("the port is listened at again", listener::isListening);
        Await.until("the attempts have ended", () -> !listener.isTrying());
    }

    @Test
    void shouldNotTryAgainOnceItsTenantIsClosed() {
        hosts.servers().close();
        Await.until("the port is lost", () -> !listener.isListening());
        assertThat(listener.isTrying()).isFalse();
    }

    @Test
    void shouldGiveUpWhenItsTenantIsClosedWhileItTries() {
        hosts.closeDoor(QueueHosts.SERVER);
        Await.until("the port is lost", () -> !listener.isListening());
        hosts.servers().close();
        Await.until("the attempts have ended", () -> !listener.isTrying());
        assertThat(listener.isListening()).isFalse();
    }
}
