package dev.rackcall.rdma;

import dev.rackcall.rpc.Rpc;
import dev.rackcall.rpc.RpcService;
import dev.rackcall.shm.Ref;
import dev.rackcall.shm.types.Shared;
import dev.rackcall.shm.types.SharedBytes;

/** A service whose arguments are large, and whose handlers look at little of them. */
@RpcService("/test/forest")
interface Forest {
    /** A node, and the way to the next one. */
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

    /** The sum of the numbers of so many nodes, by their texts, too. */
    @Rpc
    long walk(Tree first, int nodes);

    /** The same, and then once more after {@link ForestService#goOn} lets it. */
    @Rpc
    long walkTwice(Tree first, int nodes);

    /** The sum of all bytes of the first node's leaves. */
    @Rpc
    long rake(Tree first);

    /** Returns its argument. */
    @Rpc
    Tree back(Tree first);
}
