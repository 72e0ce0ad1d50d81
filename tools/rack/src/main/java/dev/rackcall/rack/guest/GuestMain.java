package dev.rackcall.rack.guest;

import dev.rackcall.rdma.RdmaSettings;
import java.util.Arrays;

/** The program of a guest: takes its steps one after the other and tells the machine how each went. */
public final class GuestMain {
    private GuestMain() {}

    /** {@code GuestMain NAME STEP,STEP,...} */
    public static void main(String[] args) {
        RdmaSettings.helloTimeout(Guest.BOUND);
        Guest guest = new Guest(args[0]);
        boolean good = true;
        for (String word : Arrays.asList(args[1].split(",", -1))) {
            good &= guest.take(Step.ofWord(word));
        }
        System.exit(good ? 0 : 1);
    }
}
