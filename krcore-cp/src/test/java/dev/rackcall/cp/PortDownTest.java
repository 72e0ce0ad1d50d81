package dev.rackcall.cp;

import static dev.rackcall.testkit.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.cp.agent.Agent;
import dev.rackcall.cp.agent.AgentOptions;
import dev.rackcall.cp.meta.MetaServer;
import dev.rackcall.verbs.Device;
import dev.rackcall.verbs.VerbsException;
import dev.rackcall.verbs.soft.FaultPlan;
import dev.rackcall.verbs.soft.SoftDevice;
import dev.rackcall.verbs.soft.SoftOptions;
import org.junit.jupiter.api.Test;

/** Errors for a device whose port is down, at once and not after a timeout. */
class PortDownTest {
    private static final HostId SELF = HostId.named("self");
    private static final HostId OTHER = HostId.named("other");
    private static final String DOWN = "port 1 of soft:hit is DOWN: ENETDOWN; plug it in";

    private final FaultPlan plan = FaultPlan.none();
    private final Device device = SoftDevice.of("hit", SoftOptions.local().withFaults(plan));

    @Test
    void shouldOpenNothingOverIt() {
        plan.portDown();
        assertThrown(VerbsException.class, () -> Agent.open(device, AgentOptions.of(SELF)), DOWN);
        assertThrown(VerbsException.class, () -> MetaServer.open(device, 8), DOWN);

        plan.portUp();
        try (MetaServer meta = MetaServer.open(device, 8);
                Agent agent = Agent.open(device, AgentOptions.of(SELF).withMeta(meta::address))) {
            assertThat(agent.host()).isEqualTo(SELF);
        }
    }

    @Test
    void shouldSayThatNoHostCanBeAskedOverIt() {
        try (MetaServer meta = MetaServer.open(SoftDevice.of("meta", SoftOptions.local()), 8);
                Agent agent = Agent.open(device, AgentOptions.of(SELF).withMeta(meta::address));
                Tenant tenant = agent.admit("tenant")) {
            plan.portDown();
            Hosts.fails(ControlPlaneException.Kind.UNREACHABLE, DOWN, () -> tenant.connect(OTHER));

            plan.portUp();
            Hosts.fails(ControlPlaneException.Kind.UNKNOWN_HOST, "", () -> tenant.connect(OTHER));
        }
    }
}
