package dev.rackcall.verbs.generator;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The members of the bindings that the code outside of their package mentions: {@code IbvMr.lkey(struct)},
 * {@code IbvMr.BYTES}.
 */
final class Usage {
    private static final Pattern MENTION = Pattern.compile("\\b([A-Z]\\w+)\\.(\\w+)(\\()?");

    /** By type. Accessors carry their number of arguments: {@code lkey/1} reads, {@code lkey/2} writes. */
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
            String arguments = mention.group(3) == null ? "" : "/" + arguments(text, mention.end());
            members.computeIfAbsent(mention.group(1), type -> new TreeSet<>()).add(mention.group(2) + arguments);
        }
    }

    /** Number of arguments of the call whose first argument begins here. */
    private static int arguments(String text, int start) {
        int count = 1;
        int depth = 0;
        for (int i = start; depth >= 0; i++) {
            char c = text.charAt(i);
            depth += c == '(' ? 1 : c == ')' ? -1 : 0;
            count += c == ',' && depth == 0 ? 1 : 0;
        }
        return count;
    }

    boolean uses(String type) {
        return members.containsKey(type);
    }

    boolean uses(String type, String member) {
        return members.getOrDefault(type, Set.of()).contains(member);
    }

    /** The members of this type that are called. */
    List<String> calls(String type) {
        List<String> names = new ArrayList<>();
        members.getOrDefault(type, Set.of()).stream()
                .filter(member -> member.contains("/"))
                .forEach(member -> names.add(member.substring(0, member.indexOf('/'))));
        return names;
    }

    /** The members of this type that are read as fields. */
    List<String> fields(String type) {
        return members.getOrDefault(type, Set.of()).stream()
                .filter(member -> !member.contains("/"))
                .toList();
    }
}
