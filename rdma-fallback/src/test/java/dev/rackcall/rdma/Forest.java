package dev.rackcall.rdma;

import dev.rackcall.rpc.Rpc;
import dev.rackcall.rpc.RpcService;
import dev.rackcall.shm.Ref;
import dev.rackcall.shm.types.Shared;
import dev.rackcall.shm.types.SharedBytes;

/** A service with large arguments, of which handlers read little. */
@RpcService("/test/forest")
interface Forest {
    /** A node with a Ref to the next one. */
    @Shared
    interface Tree {
        long number();

        void number(long value);

        String text();

        void text(String value);

        SharedBytes leaves();

        void leaves(SharedBytes value);

        Ref<Tree> next();

        void next(Ref<Tree> value);

        boolean next(Tree into);
    }

    /** The sum of the numbers of this many nodes, checked against their texts. */
    @Rpc
    long walk(Tree first, int nodes);

    /** The same twice, the second time after {@link ForestService#goOn} allows it. */
    @Rpc
    long walkTwice(Tree first, int nodes);

    /** The sum of all bytes of the first node's leaves. */
    @Rpc
    long rake(Tree first);

    /** Returns its argument. */
    @Rpc
    Tree back(Tree first);
}
