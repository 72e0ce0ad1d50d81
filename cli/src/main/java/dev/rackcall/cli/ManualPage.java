package dev.rackcall.cli;

import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/** A manual page, in the language of man(7), of a command and its subcommands. */
final class ManualPage {
    private final StringBuilder page = new StringBuilder();

    private ManualPage() {}

    static String of(CommandSpec command) {
        ManualPage manual = new ManualPage();
        String name = command.name();
        manual.macro("TH", name.toUpperCase(Locale.ROOT), "1");
        manual.macro("SH", "NAME");
        manual.text(name + " - " + description(command.usageMessage().description()));
        manual.macro("SH", "SYNOPSIS");
        manual.text(name + " COMMAND [OPTION]...");
        manual.macro("SH", "COMMANDS");
        manual.subcommands(command);
        manual.macro("SH", "EXIT STATUS");
        manual.text("0 for success, 1 for a failure that was explained, 2 for wrong arguments.");
        manual.macro("SH", "ENVIRONMENT");
        manual.item("RACKCALL_DIR", "The runtime folder, where servers and clients of this host meet.");
        manual.item("RACKCALL_TRACE", "If set to 1, a failure shows its stack trace.");
        return manual.page.toString();
    }

    private void subcommands(CommandSpec command) {
        command.subcommands().values().stream()
                .map(CommandLine::getCommandSpec)
                .filter(each -> !each.usageMessage().hidden())
                .forEach(each -> {
                    macro("SS", each.qualifiedName());
                    text(description(each.usageMessage().description()));
                    each.positionalParameters().stream()
                            .filter(positional -> !positional.hidden())
                            .forEach(this::positional);
                    each.options().stream()
                            .filter(option -> !option.hidden() && !option.inherited())
                            .forEach(this::option);
                    subcommands(each);
                });
    }

    private void positional(PositionalParamSpec positional) {
        item(positional.paramLabel(), description(positional.description()));
    }

    private void option(OptionSpec option) {
        String value = value(option);
        item(
                Stream.of(option.names()).map(name -> name + value).collect(Collectors.joining(", ")),
                description(option.description()));
    }

    private static String value(ArgSpec option) {
        return option.arity().max() == 0 ? "" : "=" + option.paramLabel();
    }

    private static String description(String[] lines) {
        return Stream.of(lines).map(String::format).collect(Collectors.joining(" "));
    }

    private void item(String term, String meaning) {
        macro("TP");
        page.append(".B ").append(escaped(term)).append('\n');
        text(meaning);
    }

    private void macro(String name, String... arguments) {
        page.append('.').append(name);
        for (String argument : arguments) {
            page.append(" \"").append(escaped(argument)).append('"');
        }
        page.append('\n');
    }

    private void text(String text) {
        text.lines().map(String::strip).filter(line -> !line.isEmpty()).forEach(line -> {
            // At the start of a line, these two begin a macro.
            boolean isMacro = line.startsWith(".") || line.startsWith("'");
            page.append(isMacro ? "\\&" : "").append(escaped(line)).append('\n');
        });
    }

    private static String escaped(String text) {
        return text.replace("\\", "\\e").replace("-", "\\-").replace("\"", "\\(dq");
    }
}
