package dev.rackcall.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.verbs.Devices;
import java.util.List;
import org.junit.jupiter.api.Test;

class DeviceChecksTest {
    @Test
    void shouldOpenTheSoftwareDevice() {
        assertThat(DeviceChecks.verbs()).contains(Finding.ok("verbs", "soft:local can be used: port 1 is active."));
    }

    @Test
    void shouldSayWhyThereIsNoRealDevice() {
        List<Finding> findings = DeviceChecks.verbs();
        boolean real = Devices.list().size() > 1;
        assertThat(findings.stream().anyMatch(finding -> finding.sentence().startsWith("There is no RDMA device: ")))
                .isEqualTo(!real);
        assertThat(findings).noneMatch(finding -> finding.level() == Finding.Level.PROBLEM);
    }
}
