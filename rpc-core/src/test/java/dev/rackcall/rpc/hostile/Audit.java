package dev.rackcall.rpc.hostile;

import dev.rackcall.rpc.Rpc;
import dev.rackcall.rpc.RpcService;
import dev.rackcall.rpc.hostile.Catalogue.Node;

/** A service that checks its argument, uses it, and reports whether both saw the same value. */
@RpcService("/test/audit")
public interface Audit {
    /** The outcome for an argument. */
    enum Verdict {
        /** It was refused. */
        REFUSED,
        /** It was used with the checked value. */
        SAME,
        /** It changed between the check and the use. */
        CHANGED
    }

    @Rpc
    Verdict judge(Node root);
}
