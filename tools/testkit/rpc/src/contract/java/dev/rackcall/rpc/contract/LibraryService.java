package dev.rackcall.rpc.contract;

import dev.rackcall.rpc.RpcContext;
import dev.rackcall.rpc.Status;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.types.SharedList;
import java.util.ArrayList;
import java.util.List;

/** Implements {@link Library}. */
public class LibraryService implements Library {
    private final List<Book> kept = new ArrayList<>();
    private final List<Scope> scopes = new ArrayList<>();
    Page foreign;

    @Override
    public long sum(Page first) {
        long sum = 0;
        Page page = first;
        do {
            sum += page.number();
        } while (page.next(page));
        return sum;
    }

    @Override
    public List<String> texts(Book book) {
        List<String> texts = new ArrayList<>();
        book.pages().forEach(page -> texts.add(page.text()));
        return texts;
    }

    @Override
    public Book write(String title, int pages) {
        return fill(RpcContext.current().orElseThrow().replyScope(), title, pages);
    }

    public static Book fill(Scope scope, String title, int pages) {
        Book book = scope.create(Book.class);
        book.title(title);
        SharedList<Page> list = SharedList.create(scope, Page.class);
        for (int i = 0; i < pages; i++) {
            Page page = scope.create(Page.class);
            page.number(i);
            page.text(title + " " + i);
            list.add(page);
        }
        book.pages(list);
        return book;
    }

    @Override
    public synchronized void keep(Book book) {
        scopes.add(RpcContext.current().orElseThrow().adopt(book));
        kept.add(book);
    }

    @Override
    public synchronized List<String> kept() {
        List<String> all = new ArrayList<>();
        for (Book book : kept) {
            all.add(book.title());
            all.addAll(texts(book));
        }
        return all;
    }

    @Override
    public synchronized void dropKept() {
        kept.clear();
        scopes.forEach(Scope::close);
        scopes.clear();
    }

    @Override
    public Page failAfterWriting() {
        fill(RpcContext.current().orElseThrow().replyScope(), "lost", 100);
        throw Status.Code.ABORTED.with("after writing").asException();
    }

    @Override
    public Page foreign() {
        return foreign;
    }
}
