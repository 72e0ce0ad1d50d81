package dev.rackcall.rpc.call;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.contract.Library;
import dev.rackcall.rpc.contract.LibraryService;
import dev.rackcall.rpc.contract.RpcFixture;
import dev.rackcall.testkit.CapturedErr;
import org.junit.jupiter.api.Test;

/** Unreleased results cause a warning that names a place in the code. */
class UnreleasedResultTest extends RpcFixture {
    private static final int FIRST_WARNING = 1_024;

    private static void leak(Library library) {
        library.write("leaked", 0);
    }

    @Test
    void shouldWarnOfResultsThatAreNotReleasedAndSayWhereOneWasMade() {
        serve(Library.class, new LibraryService());
        RpcChannel channel = open(Library.class);
        Library library = channel.stub(Library.class);
        try (CapturedErr log = CapturedErr.begin()) {
            for (int i = 0; i < 2 * FIRST_WARNING; i++) {
                channel.release(library.write("released", 0));
                library.write("closed", 0).close();
            }
            for (int i = 0; i < FIRST_WARNING - 1; i++) {
                leak(library);
            }
            assertThat(log.text()).doesNotContain("RpcChannel.release");
            leak(library);
            assertThat(log.text())
                    .contains(
                            "channel /test/library: 1024 shared results were not released",
                            "RpcChannel.release",
                            "UnreleasedResultTest.leak");
        }
    }
}
