package dev.rackcall.perf.objects;

import dev.rackcall.shm.Ref;
import dev.rackcall.shm.types.Shared;
import dev.rackcall.shm.types.SharedType;

/** A node of a binary tree. */
@Shared
interface TreeNode {
    SharedType<TreeNode> TYPE = SharedType.of(TreeNode.class);

    long value();

    TreeNode value(long value);

    /** Null in a leaf. */
    Ref<TreeNode> left();

    TreeNode left(Ref<TreeNode> value);

    boolean left(TreeNode into);

    /** Null in a leaf. */
    Ref<TreeNode> right();

    TreeNode right(Ref<TreeNode> value);

    boolean right(TreeNode into);
}
