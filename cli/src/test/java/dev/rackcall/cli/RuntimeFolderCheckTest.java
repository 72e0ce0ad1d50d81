package dev.rackcall.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.cli.Finding.Level;
import dev.rackcall.shm.os.Uid;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RuntimeFolderCheckTest {
    private static final int ME = Uid.current();

    @TempDir
    private Path temporary;

    @Test
    void shouldAcceptAPrivateFolder() throws IOException {
        assertThat(check(folder("rwx------"), ME).level()).isEqualTo(Level.OK);
    }

    @Test
    void shouldPointOutWhatDeadServersHaveLeft() throws IOException {
        Path folder = folder("rwx------");
        Path old = Files.writeString(folder.resolve("shop+old@aaaaaa.lock"), "pid 1\n");
        Files.setPosixFilePermissions(old, PosixFilePermissions.fromString("rw-------"));

        assertThat(check(folder, ME))
                .isEqualTo(
                        Finding.note(
                                "runtime folder",
                                folder
                                        + " is yours alone; channels served: 0. Dead servers have left files of 1: ./rackcall clean"));
    }

    @Test
    void shouldAcceptAFolderThatDoesNotExistYet() {
        assertThat(check(temporary.resolve("later"), ME).level()).isEqualTo(Level.OK);
    }

    @Test
    void shouldAcceptFoldersThatDoNotExistYet() {
        assertThat(check(temporary.resolve("later/and/later"), ME).level()).isEqualTo(Level.OK);
        assertThat(temporary).isEmptyDirectory();
    }

    /** Where not even root can make one, though the permissions say so. */
    @Test
    void shouldNotBelieveThePermissionsOfProc() {
        Finding finding = check(Path.of("/proc/x"), ME);
        assertThat(finding.level()).isEqualTo(Level.PROBLEM);
        assertThat(finding.sentence())
                .contains("/proc/x is not there and cannot be made")
                .contains("RACKCALL_DIR");
    }

    @Test
    void shouldRefuseAFolderThatOthersCanWrite() throws IOException {
        Path folder = folder("rwxrwx---");

        assertThat(check(folder, ME))
                .isEqualTo(Finding.problem(
                        "runtime folder", folder + " is writable by others (rwxrwx---): chmod 700 " + folder));
    }

    /** Servers start there, and those with an access list need it. */
    @Test
    void shouldOnlyNoteThatOthersCanEnterAFolder() throws IOException {
        Path folder = folder("rwxr-xr-x");

        Finding finding = check(folder, ME);

        assertThat(finding.level()).isEqualTo(Level.NOTE);
        assertThat(finding.sentence()).contains("rwxr-xr-x").endsWith("chmod 700 " + folder);
    }

    @Test
    void shouldRefuseAFolderOfAnotherUser() throws IOException {
        Finding finding = check(folder("rwx------"), ME + 1);

        assertThat(finding.level()).isEqualTo(Level.PROBLEM);
        assertThat(finding.sentence())
                .contains("(uid " + ME + ")")
                .contains("not to uid " + (ME + 1))
                .contains("RACKCALL_DIR");
    }

    @Test
    void shouldNotFollowALink() throws IOException {
        Path link = Files.createSymbolicLink(temporary.resolve("link"), folder("rwx------"));

        assertThat(check(link, ME).sentence()).contains("is no folder");
    }

    @Test
    void shouldRefuseAPathThatIsTooLongForASocket() {
        Finding finding = check(Path.of("/" + "x".repeat(90)), ME);

        assertThat(finding.level()).isEqualTo(Level.PROBLEM);
        assertThat(finding.sentence()).contains("91 characters");
    }

    private Path folder(String permissions) throws IOException {
        Path folder = Files.createDirectory(temporary.resolve("run"));
        return Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString(permissions));
    }

    private static Finding check(Path folder, int uid) {
        return new RuntimeFolderCheck(folder, uid).finding();
    }
}
