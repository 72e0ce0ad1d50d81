package dev.rackcall.rdma;

import dev.rackcall.rpc.RpcContext;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.Status;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.types.SharedBytes;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

final class ForestService implements Forest {
    final Semaphore walked = new Semaphore(0);
    final Semaphore goOn = new Semaphore(0);
    volatile Status.Code failure = Status.Code.OK;
    /** Of the last call that stops on its way. */
    volatile RpcContext context;

    static Tree tree(Scope scope, long number) {
        Tree tree = scope.create(Tree.class);
        tree.number(number);
        tree.text("tree " + number);
        return tree;
    }

    @Override
    public long walk(Tree first, int nodes) {
        long sum = 0;
        Tree at = first;
        for (int i = 0; i < nodes; i++) {
            if (!at.text().equals("tree " + at.number())) {
                throw new IllegalStateException("tree " + at.number() + " says it is " + at.text());
            }
            sum += at.number();
            if (i + 1 < nodes && !at.next(at)) {
                throw new IllegalStateException("only " + (i + 1) + " trees");
            }
        }
        return sum;
    }

    @Override
    public long walkTwice(Tree first, int nodes) {
        long sum = first.number();
        context = RpcContext.current().orElseThrow();
        walked.release();
        try {
            if (!goOn.tryAcquire(30, TimeUnit.SECONDS)) {
                throw new IllegalStateException("the test does not let it go on");
            }
            return sum + walk(first, nodes);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return -1;
        } catch (RpcException e) {
            failure = e.code();
            throw e;
        } finally {
            walked.release();
        }
    }

    @Override
    public long rake(Tree first) {
        SharedBytes leaves = first.leaves();
        long sum = 0;
        for (int i = 0; i < leaves.length(); i++) {
            sum += leaves.get(i);
        }
        return sum;
    }

    @Override
    public Tree back(Tree first) {
        return first;
    }
}
