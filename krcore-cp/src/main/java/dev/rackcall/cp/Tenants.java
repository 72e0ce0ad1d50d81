package dev.rackcall.cp;

import java.util.ArrayList;
import java.util.List;

/** Who uses an agent. */
final class Tenants implements AutoCloseable {
    private final List<Tenant> all = new ArrayList<>();

    synchronized Tenant add(Tenant tenant) {
        all.add(tenant);
        return tenant;
    }

    synchronized void remove(Tenant tenant) {
        all.remove(tenant);
    }

    @Override
    public void close() {
        List<Tenant> open;
        synchronized (this) {
            open = List.copyOf(all);
        }
        open.forEach(Tenant::close);
    }
}
