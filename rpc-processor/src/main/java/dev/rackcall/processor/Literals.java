package dev.rackcall.processor;

import com.palantir.javapoet.CodeBlock;
import java.util.ArrayList;
import java.util.List;

/** Text as Java source. */
final class Literals {
    private static final int MAX_LITERAL = 16_000;

    private Literals() {}

    /** An expression for a text of any length, one literal per line: a single one may not be longer than 65,535 bytes. */
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
