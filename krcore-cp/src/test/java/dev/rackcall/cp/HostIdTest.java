package dev.rackcall.cp;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class HostIdTest {
    /** A meta server in a process of its own knows hosts by their numbers. */
    @Test
    void shouldNameTheHostInAMessageOfAnotherProcess() {
        HostId host = HostId.named("far");
        String number = Long.toHexString(host.value());
        String named = "host far (" + number + ") has been registered by another agent since";
        assertThat(host.nameIn("host " + number + " has been registered by another agent since"))
                .isEqualTo(named);
        assertThat(host.nameIn(named)).isEqualTo(named);
        assertThat(new HostId(host.value() + 1).nameIn(named)).isEqualTo(named);
    }
}
