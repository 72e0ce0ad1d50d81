package dev.rackcall.rpc.hostile;

import dev.rackcall.rpc.Rpc;
import dev.rackcall.rpc.RpcService;
import dev.rackcall.rpc.hostile.Catalogue.Node;

/** A service that checks its argument and then uses it, and tells whether it used what it had checked. */
@RpcService("/test/audit")
public interface Audit {
    /** What became of an argument. */
    enum Verdict {
        /** It was refused. */
        REFUSED,
        /** It was checked, and used as it had been checked. */
        SAME,
        /** It was checked, and was something else when it was used. */
        CHANGED
    }

    @Rpc
    Verdict judge(Node root);
}
