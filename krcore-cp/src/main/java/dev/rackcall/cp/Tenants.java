package dev.rackcall.cp;

import java.util.ArrayList;
import java.util.List;

/** Who uses an agent. */
final class Tenants implements AutoCloseable {
    private final List<LocalTenant> all = new ArrayList<>();

    synchronized LocalTenant add(LocalTenant tenant) {
        all.add(tenant);
        return tenant;
    }

    synchronized void remove(LocalTenant tenant) {
        all.remove(tenant);
    }

    @Override
    public void close() {
        List<LocalTenant> open;
        synchronized (this) {
            open = List.copyOf(all);
        }
        open.forEach(LocalTenant::close);
    }
}
