package dev.rackcall.cli;

import dev.rackcall.cli.top.TopCommand;
import dev.rackcall.cli.view.ViewCommand;
import dev.rackcall.perf.BenchCommand;
import dev.rackcall.perf.ReportCommand;
import dev.rackcall.rack.RackTestCommand;
import dev.rackcall.samples.DemoCommand;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.UnmatchedArgumentException;

/**
 * The {@code rackcall} command. Its exit code is 0 for success, 1 for an explained failure, 2 for wrong arguments;
 * {@code rack-test} also returns 3.
 */
@Command(
        name = "rackcall",
        description = "RPC by pointer for processes that share memory.",
        versionProvider = VersionCommand.class,
        mixinStandardHelpOptions = true,
        scope = ScopeType.INHERIT,
        sortOptions = false,
        footer = {"", "With RACKCALL_TRACE=1 in the environment a failure shows its stack trace."},
        subcommands = {
            DemoCommand.class,
            BenchCommand.class,
            ReportCommand.class,
            SourceTreeCommand.Install.class,
            SourceTreeCommand.Dist.class,
            SourceTreeCommand.Javadoc.class,
            SourceTreeCommand.Test.class,
            SourceTreeCommand.Stress.class,
            SourceTreeCommand.Soak.class,
            RackTestCommand.class,
            AgentCommand.class,
            ExplainCommand.class,
            TopCommand.class,
            ViewCommand.class,
            DoctorCommand.class,
            CompatCommand.class,
            CleanCommand.class,
            HoldSealsCommand.class,
            VersionCommand.class,
            TrainCommand.class,
            ManualCommand.class,
            HelpCommand.class,
        })
public final class RackcallCommand {
    private static final int FAILED = 1;
    private static final String TRACE_VARIABLE = "RACKCALL_TRACE";

    private RackcallCommand() {}

    /** Runs the command and ends the JVM with its exit code. */
    public static void main(String[] args) {
        System.exit(commandLine().execute(args));
    }

    static CommandLine commandLine() {
        CommandLine commandLine = new CommandLine(new RackcallCommand());
        commandLine.setCommandName("rackcall");
        commandLine.setCaseInsensitiveEnumValuesAllowed(true);
        commandLine.setParameterExceptionHandler(RackcallCommand::refuse);
        commandLine.setExecutionExceptionHandler(RackcallCommand::explain);
        return commandLine;
    }

    /** Prints the error without the usage text, which would hide it. */
    private static int refuse(ParameterException failure, String[] arguments) {
        CommandLine command = failure.getCommandLine();
        PrintWriter err = command.getErr();
        err.println("rackcall: " + complaint(failure, command));
        UnmatchedArgumentException.printSuggestions(failure, err);
        err.println("See " + command.getCommandSpec().qualifiedName() + " --help");
        err.flush();
        return CommandLine.ExitCode.USAGE;
    }

    private static String complaint(ParameterException failure, CommandLine command) {
        if (!(failure instanceof UnmatchedArgumentException unmatched) || unmatched.isUnknownOption()) {
            return failure.getMessage();
        }
        String word = unmatched.getUnmatched().getFirst();
        return command.getParent() == null
                ? "there is no command '" + word + "'"
                : "unexpected argument '" + word + "'";
    }

    /**
     * Failures with a message for people need no stack trace; any other is a defect, and its stack trace is printed.
     */
    private static int explain(Exception failure, CommandLine command, ParseResult arguments) {
        PrintWriter err = command.getErr();
        boolean expected = failure instanceof UncheckedIOException
                || failure instanceof java.io.IOException
                || failure instanceof IllegalArgumentException
                || failure.getClass().getName().startsWith("dev.rackcall.");
        if (expected && System.getenv(TRACE_VARIABLE) == null) {
            err.println("rackcall: " + message(failure) + traceHint(failure));
        } else {
            failure.printStackTrace(err);
        }
        err.flush();
        return FAILED;
    }

    /** A message of the operating system may not be enough; those of this project should be. */
    private static String traceHint(Exception failure) {
        return failure instanceof UncheckedIOException || failure instanceof java.io.IOException
                ? " (" + TRACE_VARIABLE + "=1 shows the stack trace)"
                : "";
    }

    private static String message(Exception failure) {
        return failure.getMessage() == null ? failure.toString() : failure.getMessage();
    }
}
