package dev.rackcall.cp;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.verbs.Access;
import dev.rackcall.verbs.AddressHandle;
import dev.rackcall.verbs.AddressVector;
import dev.rackcall.verbs.AsyncEvent;
import dev.rackcall.verbs.CompletionChannel;
import dev.rackcall.verbs.CompletionQueue;
import dev.rackcall.verbs.CompletionQueueSpec;
import dev.rackcall.verbs.Context;
import dev.rackcall.verbs.Device;
import dev.rackcall.verbs.DeviceAttributes;
import dev.rackcall.verbs.Gid;
import dev.rackcall.verbs.MemoryRegion;
import dev.rackcall.verbs.PortAttributes;
import dev.rackcall.verbs.ProtectionDomain;
import dev.rackcall.verbs.QueuePair;
import dev.rackcall.verbs.QueuePairSpec;
import dev.rackcall.verbs.QueuePairType;
import dev.rackcall.verbs.SharedReceiveQueue;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;

/** A device as most are: without dynamically connected queue pairs. */
public record PlainDevice(Device device) implements Device {
    @Override
    public String name() {
        return device.name();
    }

    @Override
    public Context open() {
        return new PlainContext(device.open());
    }

    private record PlainContext(Context context) implements Context {
        @Override
        public Device device() {
            return context.device();
        }

        @Override
        public DeviceAttributes attributes() {
            DeviceAttributes all = context.attributes();
            return new DeviceAttributes(
                    all.firmware(),
                    all.maxQueuePairs(),
                    all.maxWorkRequests(),
                    all.maxSegments(),
                    all.maxCompletionQueues(),
                    all.maxCompletions(),
                    all.maxMemoryRegions(),
                    all.maxReadAtomic(),
                    all.maxSharedReceiveQueues(),
                    all.ports(),
                    all.atomics(),
                    false);
        }

        @Override
        public PortAttributes port(int port) {
            return context.port(port);
        }

        @Override
        public Gid gid(int port, int index) {
            return context.gid(port, index);
        }

        @Override
        public ProtectionDomain allocateProtectionDomain() {
            return new PlainDomain(context.allocateProtectionDomain());
        }

        @Override
        public CompletionChannel createCompletionChannel() {
            return context.createCompletionChannel();
        }

        @Override
        public CompletionQueue createCompletionQueue(CompletionQueueSpec spec) {
            return context.createCompletionQueue(spec);
        }

        @Override
        public Optional<AsyncEvent> awaitEvent(Duration atMost) {
            return context.awaitEvent(atMost);
        }

        @Override
        public void close() {
            context.close();
        }
    }

    private record PlainDomain(ProtectionDomain domain) implements ProtectionDomain {
        @Override
        public MemoryRegion register(MemorySegment memory, Set<Access> rights) {
            return domain.register(memory, rights);
        }

        @Override
        public QueuePair createQueuePair(QueuePairSpec spec) {
            assertThat(spec.type()).isIn(QueuePairType.RC, QueuePairType.UD);
            return domain.createQueuePair(spec);
        }

        @Override
        public SharedReceiveQueue createSharedReceiveQueue(int requests, int segments) {
            return domain.createSharedReceiveQueue(requests, segments);
        }

        @Override
        public AddressHandle createAddressHandle(AddressVector vector) {
            return domain.createAddressHandle(vector);
        }

        @Override
        public void close() {
            domain.close();
        }
    }
}
