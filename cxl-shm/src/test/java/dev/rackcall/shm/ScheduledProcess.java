package dev.rackcall.shm;

import dev.rackcall.shm.ScheduledArena.Letter;
import dev.rackcall.shm.ScheduledArena.Run;
import dev.rackcall.shm.alloc.Killed;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;

/**
 * A process of a {@link ScheduledArena}. It takes, stamps and frees runs; opens, fills, resets and closes scopes and
 * sends Refs into them; adopts scopes by letters of any age; and reclaims dead processes. After it has died and was
 * reclaimed, another process with its number may begin.
 */
final class ScheduledProcess {
    private static final int ACTIONS = 200;
    private static final int LIVES = 3;
    private static final int PATIENCE = 200;
    private static final int MAX_HELD = 3;
    private static final int MAX_OBJECTS = 3;
    private static final int MAX_OBJECT = 2 * (int) ArenaLayout.PAGE;
    private static final Set<String> OF_INTEREST = Set.of("PageRuns", "PageAllocator", "RunChain", "Scope", "Arena");

    /** A scope, and the page uses that it consists of. */
    private record Held(Scope scope, Set<Long> uses) {}

    private final ScheduledArena world;
    private final ArenaSchedule schedule;
    private final Random random;
    private final int number;
    private final int longest;
    private final boolean sendsAgain;
    private final List<Run> runs = new ArrayList<>();
    private final List<Held> scopes = new ArrayList<>();
    private Arena arena;
    private Thread thread;

    // What it is doing.
    private String doing = "begins";
    private boolean allocatesRun;
    private Letter adopts;
    private boolean misled;
    private Set<Long> ends = Set.of();
    private final Set<Long> gained = new HashSet<>();

    private boolean dead;
    private boolean reclaimed;
    private int reclaimers;

    ScheduledProcess(ScheduledArena world, int number, Random random, int longest, boolean sendsAgain) {
        this.world = world;
        this.schedule = world.schedule();
        this.number = number;
        this.random = random;
        this.longest = longest;
        this.sendsAgain = sendsAgain;
    }

    // ---- for the checks

    int number() {
        return number;
    }

    boolean isDead() {
        return dead;
    }

    /** The letter that it is adopting, or null. */
    Letter adopts() {
        return adopts;
    }

    /** The letter that it adopts led to another scope. */
    void isMisled() {
        misled = true;
    }

    boolean wasMisled() {
        return misled;
    }

    /** A page use belongs to this process now. */
    void gains(long use) {
        gained.add(use);
    }

    boolean mayEnd(long use) {
        return ends.contains(use) || gained.contains(use);
    }

    boolean isAllocating(long use) {
        return allocatesRun && gained.contains(use);
    }

    @Override
    public String toString() {
        return "process " + number + " (" + doing + (dead ? ", dead)" : ")");
    }

    /** Its position in the code. */
    String trace() {
        StringBuilder text = new StringBuilder();
        for (StackTraceElement frame : thread == null ? new StackTraceElement[0] : thread.getStackTrace()) {
            String name = frame.getClassName();
            if (OF_INTEREST.contains(name.substring(name.lastIndexOf('.') + 1))) {
                text.append(" < ").append(frame.getFileName()).append(':').append(frame.getLineNumber());
            }
        }
        return text.toString();
    }

    // ---- its lives

    void live() {
        thread = Thread.currentThread();
        for (int lives = 0; lives < LIVES; lives++) {
            try {
                arena = Arena.attach(world.spec(number));
                for (int i = 0; i < ACTIONS; i++) {
                    act();
                }
                clear();
                world.lookNow();
                return;
            } catch (Killed end) {
                begin(doing);
                dead = true;
                reclaimed = false;
                world.hasDied(this);
                runs.clear();
                scopes.clear();
                schedule.revive();
                if (!awaitReclaim()) {
                    return;
                }
            }
        }
    }

    private boolean awaitReclaim() {
        for (int i = 0; i < PATIENCE; i++) {
            schedule.pass();
            if (reclaimed && reclaimers == 0) {
                dead = false;
                return true;
            }
        }
        return false;
    }

    private void act() {
        try {
            switch (random.nextInt(12)) {
                case 0, 1, 2 -> allocate();
                case 3, 4 -> {
                    if (!runs.isEmpty()) {
                        free(runs.remove(random.nextInt(runs.size())));
                    }
                }
                case 5, 6 -> open();
                case 7 -> {
                    if (!scopes.isEmpty()) {
                        close(scopes.remove(random.nextInt(scopes.size())));
                    }
                }
                case 8 -> reset();
                case 9 -> reclaim();
                default -> adopt();
            }
        } catch (OutOfArenaException full) {
            clear();
        }
    }

    private void begin(String what) {
        // Check the last step of the previous operation.
        world.lookNow();
        doing = what;
        allocatesRun = false;
        adopts = null;
        misled = false;
        ends = Set.of();
        gained.clear();
    }

    // ---- runs

    private void allocate() {
        if (runs.size() == MAX_HELD) {
            return;
        }
        int length = 1 + random.nextInt(longest);
        begin("allocates " + length + " pages");
        allocatesRun = true;
        long ref = arena.allocateRun(length * ArenaLayout.PAGE);
        Run run = world.handedOut(this, ref, length);
        runs.add(run);
        world.lookNow();
        doing = "stamps " + run;
        for (int i = 0; i < run.pages(); i++) {
            arena.memory().set(ValueLayout.JAVA_LONG, stampAt(run, i), ~run.ref());
        }
    }

    private void free(Run run) {
        begin("frees " + run);
        for (int i = 0; i < run.pages(); i++) {
            long found = ~arena.memory().get(ValueLayout.JAVA_LONG, stampAt(run, i));
            world.require(found == run.ref(), this + " finds there the stamp of " + Ref.describe(found));
        }
        ends = world.useAt(run);
        world.isAboutToFree(run);
        world.require(arena.freeRun(run.ref()), this + ", which is not there");
    }

    private static long stampAt(Run run, int page) {
        return Ref.offset(run.ref()) + page * ArenaLayout.PAGE;
    }

    // ---- scopes

    private void open() {
        if (scopes.size() == MAX_HELD) {
            return;
        }
        begin("opens a scope");
        Held held = new Held(arena.newScope(), new HashSet<>());
        scopes.add(held);
        doing = "fills the scope at " + Ref.describe(held.scope.firstRun());
        long object = 0;
        try {
            for (int i = random.nextInt(MAX_OBJECTS); i >= 0; i--) {
                object = held.scope.allocate(random.nextInt(MAX_OBJECT));
            }
        } finally {
            world.lookNow();
            held.uses.addAll(gained);
        }
        Letter letter = new Letter(object, Set.copyOf(gained));
        for (int i = random.nextInt(3); i > 0; i--) {
            send(letter);
        }
    }

    private void send(Letter letter) {
        begin("sends " + Ref.describe(letter.ref()));
        world.send(letter);
    }

    private void reset() {
        if (scopes.isEmpty()) {
            return;
        }
        Held held = scopes.get(random.nextInt(scopes.size()));
        if (!held.scope.isOpen()) {
            return;
        }
        begin("resets the scope at " + Ref.describe(held.scope.firstRun()));
        ends = Set.copyOf(held.uses);
        try {
            held.scope.reset();
            world.lookNow();
            held.uses.clear();
            held.uses.addAll(gained);
        } catch (ScopeException expected) {
            // Another process has taken it over.
            scopes.remove(held);
        }
    }

    private void close(Held held) {
        begin("closes the scope at " + Ref.describe(held.scope.firstRun()));
        ends = held.uses;
        held.scope.close();
    }

    /** The sender may have closed the scope, may be closing it, may be dead, or may be this process. */
    private void adopt() {
        begin("looks for letters");
        Letter letter = world.receive();
        for (int from = 1; letter.ref() != 0 && from <= ScheduledArena.PROCESSES; from++) {
            if (from != number && adopt(letter, from)) {
                break;
            }
        }
        if (letter.ref() != 0 && sendsAgain && random.nextBoolean()) {
            send(letter);
        }
    }

    private boolean adopt(Letter letter, int from) {
        begin("adopts " + Ref.describe(letter.ref()) + " from process " + from);
        adopts = letter;
        try {
            Scope scope = arena.adopt(letter.ref(), from);
            world.lookNow();
            world.require(!gained.isEmpty(), this + " and got nothing");
            scopes.add(new Held(scope, Set.copyOf(gained)));
            return true;
        } catch (RefException expected) {
            // It does not belong to this participant, or no longer.
            return false;
        }
    }

    // ---- the dead

    private void reclaim() {
        for (ScheduledProcess other : world.processes()) {
            if (other.dead) {
                begin("reclaims what process " + other.number + " had");
                other.reclaimers++;
                try {
                    arena.reclaim(other.number);
                    other.reclaimed = true;
                } finally {
                    other.reclaimers--;
                }
            }
        }
    }

    private void clear() {
        while (!runs.isEmpty()) {
            free(runs.removeLast());
        }
        while (!scopes.isEmpty()) {
            close(scopes.removeLast());
        }
    }
}
