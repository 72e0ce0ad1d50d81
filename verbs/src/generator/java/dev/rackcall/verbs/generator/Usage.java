package dev.rackcall.verbs.generator;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The members of the bindings that the code outside of their package mentions: {@code IbvMr.LKEY},
 * {@code Libibverbs.ibvDeregMr(}.
 */
final class Usage {
    private static final Pattern MENTION = Pattern.compile("\\b([A-Z]\\w+)\\.(\\w+)(\\()?");

    /** By type. Functions end with a parenthesis. */
    private final Map<String, Set<String>> members = new TreeMap<>();

    Usage(Path sources, Path bindings) throws IOException {
        List<Path> files;
        try (var all = Files.walk(sources)) {
            files = all.filter(file -> file.toString().endsWith(".java") && !file.startsWith(bindings))
                    .toList();
        }
        for (Path file : files) {
            String text = Files.readString(file);
            if (text.contains("verbs.ffi.")) {
                scan(text);
            }
        }
    }

    private void scan(String text) {
        Matcher mention = MENTION.matcher(text);
        while (mention.find()) {
            members.computeIfAbsent(mention.group(1), type -> new TreeSet<>())
                    .add(mention.group(2) + (mention.group(3) == null ? "" : "("));
        }
    }

    boolean uses(String type) {
        return members.containsKey(type);
    }

    boolean uses(String type, String member) {
        return members.getOrDefault(type, Set.of()).contains(member);
    }

    /** The members of this type that are called. */
    List<String> calls(String type) {
        return members.getOrDefault(type, Set.of()).stream()
                .filter(member -> member.endsWith("("))
                .map(member -> member.substring(0, member.length() - 1))
                .toList();
    }

    /** The members of this type that are read as fields. */
    List<String> fields(String type) {
        return members.getOrDefault(type, Set.of()).stream()
                .filter(member -> !member.endsWith("("))
                .toList();
    }
}
