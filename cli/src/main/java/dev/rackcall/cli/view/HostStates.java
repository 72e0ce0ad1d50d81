package dev.rackcall.cli.view;

import dev.rackcall.cli.top.PrintableText;
import dev.rackcall.cli.top.TopReport.ConnectionRow;
import dev.rackcall.cli.top.TopReport.ProcessRow;
import dev.rackcall.cli.view.ViewState.ConnectionEdge;
import dev.rackcall.cli.view.ViewState.ProcessNode;
import java.io.IOException;
import java.lang.reflect.RecordComponent;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Limits of what one host tells another one: its agent keeps them, and the other host does not believe that it does. */
final class HostStates {
    /** Connections of a host. */
    static final int MOST_CONNECTIONS = 100;
    /** Processes of a host: the ends of its connections, and others. */
    private static final int MOST_PROCESSES = 3 * MOST_CONNECTIONS;

    /** One place in so many is for a connection whose server or client has died. */
    private static final int PLACES_A_DEATH = 5;

    /** Servers first: many clients are short-lived programs. */
    private static final Comparator<ConnectionEdge> LATEST_DEATH = Comparator.comparing(
                    (ConnectionEdge edge) -> !edge.row().state().equals("server gone"))
            .thenComparing(edge -> edge.goneSeconds().orElse(0L));

    /** Code points. */
    private static final int MOST_TEXT = 512;
    /** So that sums of counts do not overflow. */
    private static final int MOST_COUNT = 1 << 30;

    /** The largest whole number that a page keeps exactly. */
    private static final long MOST_NUMBER = 1L << 53;

    /** Of a connection: {@code TopWatch} makes it from its file, and in a pool its place. */
    static final Pattern ID = Pattern.compile("[0-9]{1,20}(-[0-9]{1,20}){1,2}");

    private static final Pattern WORD = Pattern.compile("[A-Za-z_ ]{1,20}");

    static final ViewState NOTHING = new ViewState(0, 0, "", Optional.empty(), 0, 0, List.of(), List.of());

    private HostStates() {}

    /**
     * Cuts what an honest host has to tell. Live connections come before those that have ended, the busiest first. Up to
     * a fifth of the places is for connections whose process has died: an operator looks for them. A connection whose
     * numbers no other host would believe is invalid: a process may have made them up.
     */
    static ViewState fit(ViewState all, int most) {
        List<ConnectionEdge> connections = chosen(all.connections(), most)
                .map(edge ->
                        new ConnectionEdge(possible(edge.row()), edge.goneSeconds(), edge.folder(), edge.explain()))
                .toList();
        Set<Integer> ends = new HashSet<>();
        connections.forEach(edge -> {
            Stream.of(edge.row().serverPid(), edge.row().clientPid())
                    .flatMap(Optional::stream)
                    .forEach(ends::add);
            ends.addAll(edge.row().holders());
        });
        List<ProcessNode> processes = all.processes().stream()
                .sorted(Comparator.comparing(
                                (ProcessNode node) -> !ends.contains(node.row().pid()))
                        // The other host assumes that a process that is not listed is alive.
                        .thenComparing(node -> !node.hasEnded()))
                .limit(3L * most)
                .map(node -> new ProcessNode(possible(node.row()), node.hasEnded()))
                .toList();
        return new ViewState(
                all.sequence(),
                all.atMillis(),
                cut(all.host()),
                all.problem().map(HostStates::cut),
                all.notReadable(),
                all.leftOut() + all.connections().size() - connections.size(),
                processes,
                connections);
    }

    private static Stream<ConnectionEdge> chosen(List<ConnectionEdge> all, int most) {
        // Sorts are stable: the busiest stay first.
        Stream<ConnectionEdge> dead = all.stream()
                .filter(edge -> edge.row().state().endsWith(" gone"))
                .sorted(LATEST_DEATH)
                .limit(most / PLACES_A_DEATH);
        Stream<ConnectionEdge> others = all.stream()
                .sorted(Comparator.comparing(edge -> edge.goneSeconds().isPresent()));
        return Stream.concat(dead, others).distinct().limit(most);
    }

    private static String cut(String text) {
        return PrintableText.of(text, MOST_TEXT, ' ');
    }

    private static ConnectionRow possible(ConnectionRow row) {
        try {
            checkValue(row);
            return row;
        } catch (IOException e) {
            return ConnectionRow.invalid(row.id(), cut(row.channel()), List.of(), 0, e.getMessage());
        }
    }

    private static ProcessRow possible(ProcessRow row) {
        try {
            checkValue(row);
            return row;
        } catch (IOException e) {
            return new ProcessRow(row.pid(), cut(row.name()), 0, 0, 0, 0, 0);
        }
    }

    /**
     * Checks what an agent tells.
     *
     * @param last the sequence of what it told before
     * @throws IOException if no honest agent tells that; its message says why
     */
    static void check(ViewState state, long last) throws IOException {
        checkValue(state);
        require(state.sequence() > last, "a sequence that is not later than the last");
        Set<String> ids = new HashSet<>();
        for (ConnectionEdge edge : state.connections()) {
            require(ID.matcher(edge.row().id()).matches() && ids.add(edge.row().id()), "a connection's id");
            require(WORD.matcher(edge.row().transport()).matches(), "a transport");
            require(WORD.matcher(edge.row().state()).matches(), "a state");
        }
        require(state.connections().size() <= MOST_CONNECTIONS, "the number of connections");
    }

    /** Looks at a value and all that it contains. */
    private static void checkValue(Object value) throws IOException {
        switch (value) {
            case String text ->
                require(
                        text.codePointCount(0, text.length()) <= MOST_TEXT && PrintableText.isPrintable(text),
                        "a text");
            case Double number -> require(number >= 0 && number <= MOST_NUMBER, "a rate or a time");
            case Long number -> require(number >= 0 && number <= MOST_NUMBER, "a number");
            case Integer number -> require(number >= 0 && number <= MOST_COUNT, "a number");
            case Boolean _ -> {}
            case Optional<?> optional -> {
                if (optional.isPresent()) {
                    checkValue(optional.get());
                }
            }
            case List<?> list -> {
                require(list.size() <= MOST_PROCESSES, "the length of a list");
                for (Object element : list) {
                    checkValue(element);
                }
            }
            case Record row -> {
                for (RecordComponent component : row.getClass().getRecordComponents()) {
                    checkValue(component(row, component));
                }
            }
            default -> throw new IllegalStateException("not checked: " + value.getClass());
        }
    }

    private static Object component(Record row, RecordComponent component) {
        try {
            return component.getAccessor().invoke(row);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void require(boolean condition, String what) throws IOException {
        if (!condition) {
            throw new IOException(what + " is impossible");
        }
    }
}
