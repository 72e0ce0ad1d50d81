package dev.rackcall.rpc.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.rackcall.rpc.CallOptions;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.shm.protocol.LostWakeUps;
import dev.rackcall.rpc.spi.ServiceDefinition;
import dev.rackcall.shm.waiting.WaitCounts;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.assertj.core.api.AbstractThrowableAssert;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.io.TempDir;

/** A test with servers and channels in a runtime folder of its own. They are closed after it, the last one first. */
public abstract class RpcFixture {
    /** A thread that wakes others may wait so long for a processor, while other tests and programs run. */
    public static final Duration GRACE = Duration.ofSeconds(3);

    @TempDir
    protected Path directory;

    /** Callers on other threads add to it, too. */
    private final List<AutoCloseable> open = new CopyOnWriteArrayList<>();

    private long rescuedBefore = WaitCounts.of(WaitCounts.Kind.RESCUED);

    protected RpcFixture() {
        LostWakeUps.grace(GRACE);
    }

    protected final <T extends AutoCloseable> T keep(T item) {
        open.add(item);
        return item;
    }

    /** A server with this service. */
    protected <T> RpcServer.Builder serving(Class<T> type, T service) {
        return RpcServer.builder().service(type, service).runtimeFolder(directory);
    }

    protected final RpcServer serve(RpcServer.Builder builder) {
        return keep(builder.start());
    }

    protected final <T> RpcServer serve(Class<T> type, T service) {
        return serve(serving(type, service));
    }

    protected final RpcChannel.Builder channel(String name) {
        return RpcChannel.builder(name).runtimeFolder(directory);
    }

    protected RpcChannel.Builder channel(Class<?> service) {
        return channel(ServiceDefinition.of(service).channel());
    }

    protected final RpcChannel open(RpcChannel.Builder builder) {
        return keep(builder.open());
    }

    protected final RpcChannel open(Class<?> service) {
        return open(channel(service));
    }

    /** The service's stub over a channel of its own. */
    protected final <T> T connect(Class<T> service) {
        return open(service).stub(service);
    }

    /** How a call ends. */
    public static Status.Code codeOf(Runnable call) {
        try {
            call.run();
            return Status.Code.OK;
        } catch (RpcException e) {
            return e.code();
        }
    }

    /** The failure of a call that ends with this status. */
    public static AbstractThrowableAssert<?, RpcException> assertFails(Status.Code code, ThrowingCallable call) {
        RpcException e = catchThrowableOfType(RpcException.class, call);
        assertThat(e).as("the failure").isNotNull();
        assertThat(e.code()).as("%s", e).isEqualTo(code);
        return assertThat(e);
    }

    public static CallOptions within(Duration timeout) {
        return CallOptions.DEFAULT.withTimeout(timeout);
    }

    @AfterEach
    protected void closeAll() throws Exception {
        for (AutoCloseable each : open.reversed()) {
            each.close();
        }
        open.clear();
        assertThat(takeRescued()).as("wake-ups that this process lost").isZero();
    }

    /** The wake-ups that were lost since the test began, or since the previous call. After the test there must be none. */
    protected final long takeRescued() {
        long before = rescuedBefore;
        rescuedBefore = WaitCounts.of(WaitCounts.Kind.RESCUED);
        return rescuedBefore - before;
    }
}
