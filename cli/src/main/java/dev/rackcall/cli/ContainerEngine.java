package dev.rackcall.cli;

import java.util.Locale;
import java.util.Map;

/** What started the container of this process, and so knows how to change it. */
enum ContainerEngine {
    /** This process runs in no container, or in one of another engine. */
    NONE,
    DOCKER,
    PODMAN,
    KUBERNETES;

    /** Kubernetes comes first, since the engine below it may leave its own file in a pod's container. */
    static ContainerEngine of(HostFiles host, Map<String, String> environment) {
        if (environment.containsKey("KUBERNETES_SERVICE_HOST")) {
            return KUBERNETES;
        }
        if (host.exists("/run/.containerenv")) {
            return PODMAN;
        }
        return host.exists("/.dockerenv") ? DOCKER : NONE;
    }

    /** The command of Docker or Podman. */
    String command() {
        return name().toLowerCase(Locale.ROOT);
    }
}
