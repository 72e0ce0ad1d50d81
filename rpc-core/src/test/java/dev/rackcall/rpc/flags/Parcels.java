package dev.rackcall.rpc.flags;

import dev.rackcall.rpc.Rpc;
import dev.rackcall.rpc.RpcService;
import dev.rackcall.shm.types.Shared;

/** Has a value, an object by pointer, and one of a registered class. */
@RpcService(value = "/flags/parcels", registered = Parcels.Parcel.class)
interface Parcels {
    /** No record and no shared type, so it travels by Kryo. */
    final class Parcel {
        private final int grams;

        Parcel(int grams) {
            this.grams = grams;
        }

        int grams() {
            return grams;
        }
    }

    @Shared
    interface Label {
        String receiver();

        Label receiver(String value);
    }

    @Rpc
    String print(Label label);

    @Rpc
    int weigh(Parcel parcel);
}
