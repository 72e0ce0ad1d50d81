package dev.rackcall.rpc.hostile;

import dev.rackcall.rpc.Rpc;
import dev.rackcall.rpc.RpcService;
import dev.rackcall.rpc.contract.Echo;
import dev.rackcall.shm.Ref;
import dev.rackcall.shm.types.FixedString;
import dev.rackcall.shm.types.Shared;
import dev.rackcall.shm.types.SharedIntList;
import dev.rackcall.shm.types.SharedList;
import dev.rackcall.shm.types.SharedLongMap;
import dev.rackcall.shm.types.SharedString;
import dev.rackcall.shm.types.SharedStringMap;
import java.util.List;
import java.util.Optional;

/** A service whose arguments are graphs with everything that a hostile client can corrupt. */
@RpcService("/test/catalogue")
public interface Catalogue {
    /** A node with every kind of reference. */
    @Shared
    interface Node {
        long id();

        void id(long value);

        Echo.Kind kind();

        void kind(Echo.Kind value);

        @FixedString(14)
        String code();

        void code(String value);

        String title();

        void title(String value);

        byte[] blob();

        void blob(byte[] value);

        SharedString text();

        void text(SharedString value);

        SharedIntList numbers();

        void numbers(SharedIntList value);

        SharedList<Node> children();

        void children(SharedList<Node> value);

        SharedStringMap<Node> byName();

        void byName(SharedStringMap<Node> value);

        SharedLongMap<Node> byNumber();

        void byNumber(SharedLongMap<Node> value);

        Optional<Node> other();

        void other(Optional<Node> value);

        Ref<Node> next();

        void next(Ref<Node> value);

        boolean next(Node into);
    }

    /** Reads all that it can reach, up to a bound, and returns a sum. */
    @Rpc
    long walk(Node root);

    /** A copy of all that can be reached. */
    @Rpc
    Node copy(Node root);

    /** Takes the argument's memory over and frees it. */
    @Rpc
    void take(Node root);

    /** Returns what it gets. */
    @Rpc
    List<Node> same(List<Node> roots);
}
