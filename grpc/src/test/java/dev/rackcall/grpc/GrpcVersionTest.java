package dev.rackcall.grpc;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.internal.GrpcUtil;
import java.io.File;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Fails if the profile {@code other-grpc} runs with another version than the build names. */
class GrpcVersionTest {
    /** Without gRPC's other jars: those that only the interoperability suite needs, and those with their own releases. */
    private static final Pattern JAR =
            Pattern.compile("grpc-(?:api|core|netty-shaded|protobuf|services|stub|util)-(\\d[\\w.]*)\\.jar");

    @Test
    void shouldTestTheVersionThatTheBuildNames() {
        String version = System.getProperty("rackcall.grpc.version");
        assertThat(GrpcUtil.getGrpcBuildVersion().getImplementationVersion()).isEqualTo(version);
        assertThat(Stream.of(System.getProperty("java.class.path").split(File.pathSeparator, -1))
                        .map(each -> JAR.matcher(Path.of(each).getFileName().toString()))
                        .filter(Matcher::matches)
                        .map(jar -> jar.group(1)))
                .hasSizeGreaterThan(5)
                .containsOnly(version);
    }
}
