package dev.rackcall.processor;

import com.palantir.javapoet.AnnotationSpec;
import com.palantir.javapoet.ClassName;
import com.palantir.javapoet.CodeBlock;
import com.palantir.javapoet.FieldSpec;
import com.palantir.javapoet.JavaFile;
import com.palantir.javapoet.TypeName;
import com.palantir.javapoet.TypeSpec;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import javax.annotation.processing.FilerException;
import javax.annotation.processing.Generated;
import javax.annotation.processing.ProcessingEnvironment;
import javax.lang.model.element.Modifier;
import javax.lang.model.element.TypeElement;

/** The common parts of all generated classes: their head, their constants and their files. */
final class Sources {
    /** The value of {@code @Generated}: the name of the entry point, which depends on this class. */
    private static final String GENERATOR = "dev.rackcall.processor.RackcallProcessor";

    private static final int MAX_LITERAL = 16_000;

    private Sources() {}

    /** Begins the class that is generated for {@code origin}. */
    static TypeSpec.Builder classFor(TypeElement origin, ClassName name) {
        return TypeSpec.classBuilder(name)
                .addOriginatingElement(origin)
                .addAnnotation(AnnotationSpec.builder(Generated.class)
                        .addMember("value", "$S", GENERATOR)
                        .build());
    }

    /** Writes the file, or reports at {@code origin} why it cannot be written. */
    static void write(ProcessingEnvironment environment, TypeElement origin, ClassName name, TypeSpec type) {
        try {
            JavaFile.builder(name.packageName(), type)
                    .indent("    ")
                    .skipJavaLangImports(true)
                    .build()
                    .writeTo(environment.getFiler());
        } catch (FilerException e) {
            environment
                    .getMessager()
                    .printError(
                            origin.getSimpleName() + ": the name of its generated class, " + name.simpleName()
                                    + ", is taken; rename one of them",
                            origin);
        } catch (IOException e) {
            environment
                    .getMessager()
                    .printError(
                            origin.getSimpleName() + ": cannot write its generated class: " + e.getMessage(), origin);
        }
    }

    static FieldSpec constant(TypeName type, String name, CodeBlock value) {
        return FieldSpec.builder(type, name, Modifier.PRIVATE, Modifier.STATIC, Modifier.FINAL)
                .initializer(value)
                .build();
    }

    /** {@code PUT_ALL} for {@code putAll}. */
    static String constantName(String camelCase) {
        return camelCase.replaceAll("([a-z0-9])([A-Z])", "$1_$2").toUpperCase(Locale.ROOT);
    }

    /**
     * An expression for a text of any length, with one literal per line, because a literal has at most 65,535 bytes.
     */
    static CodeBlock text(String text) {
        List<CodeBlock> pieces = new ArrayList<>();
        for (String line : text.split("(?<=\n)")) {
            for (int at = 0; at < line.length(); at += MAX_LITERAL) {
                pieces.add(CodeBlock.of("$S", line.substring(at, Math.min(line.length(), at + MAX_LITERAL))));
            }
        }
        return pieces.size() == 1
                ? pieces.get(0)
                : CodeBlock.of("$T.join(\n\"\",\n$L)", String.class, CodeBlock.join(pieces, ",\n"));
    }
}
