package dev.rackcall.rdma;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.testkit.Await;
import dev.rackcall.verbs.soft.SoftOptions;
import java.net.InetAddress;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** How long a device stays open without connections. */
class RdmaDeviceTest {
    private static final InetAddress HERE = InetAddress.ofLiteral("127.0.0.3");
    /** A thread that stalls for a second between two connections gets another device. */
    private static final int TRIES = 20;

    @AfterEach
    void close() {
        Await.equal("devices that are open", 0, Faults::openDevices);
    }

    private static RdmaDevice use() {
        return used(HERE);
    }

    private static InetAddress many(int i) {
        return InetAddress.ofLiteral("127.0.4." + (i + 1));
    }

    private static RdmaDevice used(InetAddress address) {
        RdmaDevice device = RdmaDevice.acquire(DeviceKind.SOFTWARE, address);
        device.release();
        return device;
    }

    @Test
    void shouldStayOpenForTheNextConnection() {
        assertThat(IntStream.range(0, TRIES)).anyMatch(i -> {
            RdmaDevice former = use();
            return use() == former;
        });
    }

    @Test
    void shouldNotBeUsedAgainAfterAConnectionHasFailed() {
        RdmaDevice former = use();
        former.doubt();
        assertThat(use()).isNotSameAs(former);
    }

    @Test
    void shouldNotStayOpenBesideManyOthers() {
        List<RdmaDevice> devices = IntStream.range(0, 12)
                .mapToObj(i -> RdmaDevice.acquire(DeviceKind.SOFTWARE, many(i)))
                .toList();
        devices.forEach(RdmaDevice::release);
        assertThat(IntStream.range(8, 12))
                .allSatisfy(i -> assertThat(used(many(i))).isNotSameAs(devices.get(i)));
    }

    @Test
    void shouldNotOutliveItsSettings() {
        RdmaDevice former = use();
        RdmaSettings.softwareDevices(SoftOptions.local());
        assertThat(use()).isNotSameAs(former);
    }
}
