package dev.rackcall.rack;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class KernelImageTest {
    @TempDir
    private Path cache;

    @Test
    void shouldFindTheKernelThatTheMetaPackageStandsFor() {
        assertThat(KernelImage.currentPackage(
                        "linux-image-amd64\n  Depends: linux-image-6.1.0-56-amd64\n |Recommends: x\n"))
                .contains("linux-image-6.1.0-56-amd64");
        assertThat(KernelImage.currentPackage("linux-image-amd64\n")).isEmpty();
        assertThat(KernelImage.currentPackage("")).isEmpty();
    }

    @Test
    void shouldTakeTheHighestVersionThatIsWhole() throws IOException {
        for (String name :
                new String[] {"linux-image-6.1.0-9-amd64", "linux-image-6.1.0-56-amd64", "linux-image-5.10.0-70-amd64"
                }) {
            Files.createDirectories(cache.resolve(name).resolve("ready"));
        }
        Files.createDirectories(cache.resolve("linux-image-6.1.0-99-amd64/staged"));

        assertThat(KernelImage.newestCached(cache)).contains("linux-image-6.1.0-56-amd64");
    }

    @Test
    void shouldFindNothingInAnEmptyCache() throws IOException {
        assertThat(KernelImage.newestCached(cache)).isEmpty();
    }

    @Test
    void shouldSayWhatIsWrongWithAKernelThatIsNone() {
        assertThatThrownBy(() -> Vmlinux.of(new byte[4096], cache))
                .isInstanceOf(NotRunException.class)
                .hasMessageContaining("no bzImage");
        byte[] cut = new byte[4096];
        cut[0x202] = 'H';
        cut[0x203] = 'd';
        cut[0x204] = 'r';
        cut[0x205] = 'S';
        cut[0x24e] = 1;
        assertThatThrownBy(() -> Vmlinux.of(cut, cache))
                .isInstanceOf(NotRunException.class)
                .hasMessageContaining("cut off");
    }
}
