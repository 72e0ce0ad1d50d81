package dev.rackcall.samples;

import dev.rackcall.samples.tour.Async;
import dev.rackcall.samples.tour.Call;
import dev.rackcall.samples.tour.DirectoryAndRdma;
import dev.rackcall.samples.tour.IsolatedCall;
import dev.rackcall.samples.tour.SharedObjects;
import dev.rackcall.samples.tour.Streams;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** {@code rackcall demo sample}: runs a small program that shows one feature. */
@Command(
        name = "sample",
        description = "Runs a small program that shows one thing; its source is in samples/.../samples/tour.")
final class SampleCommand implements Callable<Integer> {
    /** The programs. */
    enum Sample {
        CALL,
        SHARED_OBJECTS,
        STREAMS,
        ASYNC,
        ISOLATION,
        DIRECTORY
    }

    @Parameters(paramLabel = "NAME", description = "One of ${COMPLETION-CANDIDATES}, in upper or lower case.")
    private Sample sample;

    @Override
    public Integer call() throws Exception {
        String[] none = {};
        switch (sample) {
            case CALL -> Call.main(none);
            case SHARED_OBJECTS -> SharedObjects.main(none);
            case STREAMS -> Streams.main(none);
            case ASYNC -> Async.main(none);
            case ISOLATION -> IsolatedCall.main(none);
            case DIRECTORY -> DirectoryAndRdma.main(none);
        }
        return 0;
    }
}
