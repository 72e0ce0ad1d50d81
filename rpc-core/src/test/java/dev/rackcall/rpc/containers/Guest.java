package dev.rackcall.rpc.containers;

import dev.rackcall.rpc.CallOptions;
import dev.rackcall.rpc.Isolation;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.contract.Echo;
import dev.rackcall.rpc.contract.EchoService;
import dev.rackcall.rpc.contract.Library;
import dev.rackcall.rpc.contract.Library.Book;
import dev.rackcall.rpc.contract.Library.Page;
import dev.rackcall.rpc.contract.LibraryService;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.types.SharedList;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/** A container's program: a server, or a client that calls in every mode. It ends with its standard input. */
final class Guest {
    /** What it does. */
    enum Role {
        /** Prints "serving", and its number of connections for each line that it reads. */
        SERVER,
        /** Prints the outcome of a call for each mode, then "calling", and calls endlessly. */
        CLIENT
    }

    private Guest() {}

    /**
     * The program.
     *
     * @param arguments a role, and the runtime folder
     */
    public static void main(String[] arguments) throws IOException {
        ContainerProfile.apply();
        Path folder = Path.of(arguments[1]);
        switch (Role.valueOf(arguments[0])) {
            case SERVER -> serve(folder);
            case CLIENT -> call(folder);
        }
    }

    private static void serve(Path folder) throws IOException {
        BufferedReader questions = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        try (RpcServer server = RpcServer.builder()
                .runtimeFolder(folder)
                .service(Echo.class, new EchoService())
                .service(Library.class, new LibraryService())
                .start()) {
            System.out.println("serving as process " + ProcessHandle.current().pid());
            while (questions.readLine() != null) {
                System.out.println("connections " + server.connections());
            }
        }
    }

    private static void call(Path folder) throws IOException {
        RpcChannel echoChannel =
                RpcChannel.builder("/test/echo").runtimeFolder(folder).open();
        RpcChannel channel =
                RpcChannel.builder("/test/library").runtimeFolder(folder).open();
        for (Isolation mode :
                new Isolation[] {Isolation.TRUSTED, Isolation.SNAPSHOT, Isolation.AUTO, Isolation.SEALED}) {
            System.out.println(mode + " " + outcome(channel, mode));
        }
        Thread.ofPlatform().daemon().start(() -> callWithoutEnd(echoChannel.stub(Echo.class), channel));
        System.in.transferTo(System.out);
    }

    private static String outcome(RpcChannel channel, Isolation mode) {
        Library library = channel.stub(Library.class, CallOptions.DEFAULT.withIsolation(mode));
        try (Scope scope = channel.newScope()) {
            Page first = scope.create(Page.class);
            first.number(42);
            return Long.toString(library.sum(first));
        } catch (RpcException e) {
            return e.status().toString();
        }
    }

    /**
     * By value, and with objects in the arena that all clients share; the memory of this process's number must not be
     * mistaken for another's.
     */
    private static void callWithoutEnd(Echo echo, RpcChannel channel) {
        Library library = channel.stub(Library.class);
        for (long round = 0; ; round++) {
            boolean isWrong = echo.add(round, 1) != round + 1;
            try (Scope scope = channel.newSharedScope()) {
                Page page = scope.create(Page.class);
                page.text("page " + round);
                Book book = scope.create(Book.class);
                book.pages(SharedList.create(scope, Page.class));
                book.pages().add(page);
                isWrong |= !library.texts(book).getFirst().equals("page " + round);
            }
            if (isWrong) {
                System.out.println("wrong answer in round " + round);
                Runtime.getRuntime().halt(1);
            }
            if (round == 0) {
                System.out.println("calling");
            }
        }
    }
}
