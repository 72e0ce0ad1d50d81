package dev.rackcall.verbs.real;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.rackcall.verbs.Device;
import dev.rackcall.verbs.Devices;
import dev.rackcall.verbs.VerbsException;
import dev.rackcall.verbs.ffi.NativeLibrary;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

/** A missing library or device gives a clear message. */
class RealProviderTest {
    @Test
    void shouldReportAMissingLibrary() {
        RealProvider provider = new RealProvider(NativeLibrary.named("libibverbs-of-nobody.so.1"));

        assertThat(provider.devices()).isEmpty();
        assertThat(provider.find("rxe0")).isEmpty();
        assertThat(provider.diagnosis())
                .startsWith("no RDMA device: libibverbs-of-nobody.so.1 is not installed")
                .contains("install libibverbs1");
    }

    @Test
    void shouldReportThatThereIsNoDevice() {
        RealProvider provider = new RealProvider();
        Assumptions.assumeTrue(NativeLibrary.IBVERBS.isPresent(), "NOT TESTED: libibverbs.so.1 is not installed");
        Assumptions.assumeTrue(provider.devices().isEmpty(), "NOT TESTED: this host has RDMA devices");

        assertThat(provider.diagnosis())
                .startsWith("no RDMA device: libibverbs.so.1 finds none (E")
                .contains("load the driver");
        assertThatThrownBy(() -> new RealDevice("rxe0").open())
                .isInstanceOf(VerbsException.class)
                .hasMessageContaining("rxe0");
    }

    @Test
    void shouldListRealDevicesFirst() {
        assertThat(Devices.list()).extracting(Device::name).endsWith("soft:local");
        assertThat(Devices.diagnosis()).hasSize(2);
    }
}
