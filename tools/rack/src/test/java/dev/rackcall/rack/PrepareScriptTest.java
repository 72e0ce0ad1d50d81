package dev.rackcall.rack;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The functions of {@code prepare.sh}. */
class PrepareScriptTest {
    @TempDir
    private Path folder;

    @BeforeEach
    void unpack() throws IOException {
        GuestImage.unpackScripts(folder);
    }

    /** The output of a command after the functions are defined. */
    private String run(String command) throws IOException {
        Process bash = new ProcessBuilder(List.of("bash", "-c", ". ./prepare.sh; " + command))
                .directory(folder.toFile())
                .redirectErrorStream(true)
                .start();
        return new String(bash.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
    }

    @Test
    void shouldFindTheKernelOfTheMetaPackage() throws IOException {
        assertThat(
                        run(
                                "printf 'linux-image-amd64\\n  Depends: linux-image-6.1.0-56-amd64\\n |Recommends: x\\n' | current"))
                .isEqualTo("linux-image-6.1.0-56-amd64");
        assertThat(run("echo linux-image-amd64 | current")).isEmpty();
    }

    @Test
    void shouldUseTheNewestCompleteVersion() throws IOException {
        assertThat(run("newest cache")).isEmpty();
        for (String name : List.of(
                "6.1.0-9-amd64/ready", "6.1.0-56-amd64/ready", "5.10.0-70-amd64/ready", "6.1.0-99-amd64/staged")) {
            Files.createDirectories(folder.resolve("cache/linux-image-" + name));
        }
        assertThat(run("newest cache")).isEqualTo("linux-image-6.1.0-56-amd64");
    }

    @Test
    void shouldReportInvalidKernelImages() throws IOException {
        byte[] image = new byte[4096];
        Files.write(folder.resolve("image"), image);
        assertThat(run("extract image elf")).contains("no bzImage");
        System.arraycopy("HdrS".getBytes(StandardCharsets.US_ASCII), 0, image, 0x202, 4);
        image[0x24e] = 1;
        Files.write(folder.resolve("image"), image);
        assertThat(run("extract image elf")).contains("cut off");
        image[0x24e] = 0;
        image[0x24c] = 64;
        Files.write(folder.resolve("image"), image);
        assertThat(run("extract image elf")).contains("packed in an unknown way");
    }

    @Test
    void shouldExtractTheElfFileFromAKernel() throws IOException {
        run("printf '\\177ELF and more' | xz -c > packed");
        byte[] packed = Files.readAllBytes(folder.resolve("packed"));
        byte[] image = new byte[(4 + 1) * 512 + packed.length + 4];
        System.arraycopy("HdrS".getBytes(StandardCharsets.US_ASCII), 0, image, 0x202, 4);
        image[0x24c] = (byte) (packed.length + 4);
        System.arraycopy(packed, 0, image, (4 + 1) * 512, packed.length);
        Files.write(folder.resolve("image"), image);
        assertThat(run("extract image elf; cat elf")).endsWith("ELF and more");
    }

    @Test
    void shouldMeasureTheSpeedOfTheTimeStampCounter() throws IOException {
        assertThat(Long.parseLong(run("ticks ."))).isGreaterThan(100_000);
    }
}
