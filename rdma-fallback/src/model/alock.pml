/*
 * ALock as docs/alock.md describes it and CohortQueue and CohortRepair do it, for Spin. Threads 1..L reach the lock by memory (cohort 0), the next R by RDMA
 * (cohort 1). Each access to shared memory is one step, and only what is atomic within one cohort is used as such. What nobody else can see yet, of a thread that
 * cannot die, is put together with the step that follows. ./check runs it.
 *
 *   L, R          threads of each cohort              BL, BR     budgets
 *   ROUNDS        acquisitions of each thread; undefined: for ever
 *   TIMEOUTS      waiters may give up, at any time
 *   BELLS         remote threads are rung when they are granted something; a ring may arrive at any time later. With ROUNDS
 *   READERS       each acquisition is to hold the lock alone or to read, as chance wants; a reader has a second descriptor
 *   DEATHS        how many threads may die, between any two steps; then a keeper is there
 *   DIES          which one, if only one may; undefined: any
 *   TOGETHER      who dies is the last two threads at once: they are two descriptors of one that does not wait for its unlocks
 *   KEEPER_DEATHS how often the keeper may die, between any two steps, and another one begins anew; with one death and without STUCK
 *   STUCK         who hands over may leave it to the keeper if who comes next has not linked himself
 *   BUG_...       a mistake that must be found
 */
#ifndef L
#define L 2
#endif
#ifndef R
#define R 2
#endif
#ifndef BL
#define BL 1
#endif
#ifndef BR
#define BR 1
#endif
#ifndef DEATHS
#define DEATHS 0
#endif
#if DEATHS > 0 || defined(STUCK)
#define KEEPER
#endif
#ifndef KEEPER_DEATHS
#define KEEPER_DEATHS 0
#endif
#define N (L + R)
#define SLOTS (N + 1)

/*
 * A reference names a descriptor and its generation; 0 is none. With ROUNDS generations never come again; without, nobody dies, and what a stale reference could
 * do harm to is not there, so there is one generation.
 */
#ifdef ROUNDS
#define REF(d) ((d) + SLOTS * gen[d])
#define NEWER(d) gen[d]++
#define ENDED(n) n
#else
#define REF(d) (d)
#define NEWER(d) skip
#define ENDED(n) 0
#endif
#define SLOT(r) ((r) % SLOTS)
#define COHORT(d) ((d) > L)
#define BUDGET(c) ((c) -> BR : BL)
#ifdef ROUNDS
#define SAME(r) (gen[SLOT(r)] == (r) / SLOTS)
#else
#define SAME(r) true
#endif

#define FREE 0
#define WAITING 1
#define HEAD 2
#define GONE 3

byte tail[2], victim;
/* state, budget and gen of a descriptor are one word. */
byte state[SLOTS], budget[SLOTS], next[SLOTS];
#ifdef ROUNDS
byte gen[SLOTS];
#endif
#ifdef KEEPER
byte prev[SLOTS], skipped[SLOTS];
bool dead[SLOTS], keeping;
#endif
#if KEEPER_DEATHS > 0
bool keeperDead;
#endif
#ifdef READERS
/* The line's word, and whether a thread's second descriptor says that it reads. */
bool readers, reads[SLOTS];
#endif

#ifdef BELLS
/* In the memory of the waiters, and what is under way there. */
byte bell[SLOTS], rung[SLOTS];
chan rings = [2] of { byte, byte };
#ifdef BUG_ANY_RING
#define RUNG(d) (bell[d] != 0)
#else
#define RUNG(d) (bell[d] == REF(d))
#endif
#endif

/* Who holds the lock, and who waits for it: what the properties speak about. */
byte inside;
bool wants[SLOTS];
/* Of those of a cohort who have entered its queue and were neither served nor gave up nor died: who is the first, the second... What was, and not what the queue says. */
byte place[SLOTS];
hidden byte h;
#ifdef READERS
/* How many read, and whether the holder has the lock for itself. */
byte reading;
bool alone;
#define NOT_ALONE alone = false
#define NOBODY_READS (reading == 0)
#define RESET_K k = 0
#else
#define NOT_ALONE skip
#define NOBODY_READS true
#define RESET_K skip
#endif

/* In a d_step: d has entered the queue; d is its cohort's last. */
inline arrives(d) {
    if
    :: place[d] == 0 ->
       place[d] = 1; h = 1;
       do
       :: h > N -> break
       :: else ->
          if
          :: h != d && COHORT(h) == COHORT(d) && place[h] > 0 -> place[d]++
          :: else
          fi;
          h++
       od;
       h = 0
    :: else
    fi
}
/* In a d_step: d waits no more, for whatever reason. */
inline passes(d) {
    if
    :: place[d] > 0 ->
       h = 1;
       do
       :: h > N -> break
       :: else ->
          if
          :: COHORT(h) == COHORT(d) && place[h] > place[d] -> place[h]--
          :: else
          fi;
          h++
       od;
       place[d] = 0; h = 0
    :: else
    fi
}
/* In a d_step: d has got the lock. First come, first served in each cohort. */
inline served(d) { assert(place[d] == 1); passes(d) }

inline leaves(d) { if :: inside == d -> inside = 0; NOT_ALONE :: else fi }
inline freed(d) { d_step { state[d] = FREE; budget[d] = 0; next[d] = ENDED(next[d]); NEWER(d) } }

/* d leaves the queue and hands over with this budget. */
inline release(d, grant) {
    do
    :: n = next[d];
       if
       :: n == 0 ->
          if
          :: d_step { tail[c] == REF(d) -> tail[c] = 0; leaves(d) } break
          :: tail[c] != REF(d) ->
             if
             :: d_step { next[d] != 0 -> n = next[d] }
#ifdef STUCK
             :: next[d] == 0 -> goto stuck
#endif
             fi
          fi
       :: else
       fi;
       if
       :: d_step { state[SLOT(n)] == WAITING -> state[SLOT(n)] = HEAD; budget[SLOT(n)] = grant; leaves(d) }
#ifdef BELLS
          if
          :: c == 1 -> rings ! n, grant
          :: else
          fi;
#endif
          break
       :: d_step { state[SLOT(n)] != WAITING -> assert(SAME(n) && state[SLOT(n)] == GONE); m = next[SLOT(n)] }
          if
          :: m == 0 ->
             if
             :: d_step { tail[c] == n -> tail[c] = 0; leaves(d) } freed(SLOT(n)); break
             :: tail[c] != n ->
                if
                :: d_step { next[SLOT(n)] != 0 -> m = next[SLOT(n)] }
#ifdef STUCK
                :: next[SLOT(n)] == 0 -> goto stuck
#endif
                fi
             fi
          :: else
          fi;
#ifdef KEEPER
          skipped[d] = n;
#endif
#ifdef BUG_FREES_FIRST
          freed(SLOT(n));
          next[d] = m
#else
          next[d] = m;
          freed(SLOT(n))
#endif
       fi
    od;
    freed(d);
    d_step { n = 0; m = 0 }
}

#ifdef READERS
inline read(d) { readers = true; d_step { reads[d] = true; reading++; wants[d] = false; assert(!alone) } }
inline readNoMore(d) { d_step { reads[d] = false; reading-- } }
#endif

proctype Thread(byte me) {
    byte t, n, m, c, rounds;
#ifdef READERS
    byte k;
#endif
    c = COHORT(me);
#ifdef KEEPER
    {
#endif
    do
#ifdef ROUNDS
    :: rounds == ROUNDS -> break
    :: rounds < ROUNDS -> rounds++;
#else
    :: true ->
#endif
#ifdef BUG_REJOINS
anew:  skip;
#endif
       /* One that has given up is used again when it is freed. */
#ifdef KEEPER
       (state[me] == FREE);
       next[me] = 0;
join:  t = tail[c];
       prev[me] = t;
       state[me] = (t -> WAITING : HEAD);
       if
       :: d_step { tail[c] == t -> tail[c] = REF(me); wants[me] = true; arrives(me) }
       :: tail[c] != t -> goto join
       fi;
#else
       d_step { state[me] == FREE -> next[me] = 0; t = tail[c]; state[me] = (t -> WAITING : HEAD); tail[c] = REF(me); wants[me] = true; arrives(me) }
#endif
       if
       :: t != 0 ->
          next[SLOT(t)] = REF(me);
          if
          :: state[me] == HEAD
#ifdef BELLS
          /* What was rung is what would be found at home. */
          :: d_step { RUNG(me) -> assert(bell[me] == REF(me) && state[me] == HEAD && rung[me] == budget[me]) }
#endif
#ifdef TIMEOUTS
          :: d_step { state[me] == WAITING -> state[me] = GONE; wants[me] = false; passes(me) } goto again
#endif
          fi;
          if
          :: budget[me] > 0 -> goto critical
          :: else
#ifdef BUG_REJOINS
             -> release(me, 0); goto anew
#endif
          fi
       :: else
       fi;
       if
       :: tail[1 - c] == 0 -> goto won
       :: tail[1 - c] != 0
       fi;
#ifndef BUG_NO_VICTIM
       victim = c;
#endif
       if
       :: tail[1 - c] == 0
       :: victim != c
#ifdef TIMEOUTS
       :: d_step { wants[me] = false; passes(me) } release(me, 0); goto again
#endif
       fi;
won:   budget[me] = BUDGET(c);
critical: skip;
#ifndef READERS
       d_step { assert(inside == 0); inside = me; wants[me] = false; t = budget[me] - 1; served(me) }
#ifdef BUG_NO_BUDGET
       t = BUDGET(c);
#endif
#else
       d_step { assert(inside == 0); inside = me; t = budget[me] - 1; served(me) }
       if
       :: k = SLOTS
#ifndef BUG_READS_LATE
          read(me)
#endif
       :: readers ->
#ifdef BUG_CLEARS_FIRST
          readers = false;
#endif
          k = 1;
          do
          :: k > N -> break
          :: d_step { k <= N && !reads[k] -> k++ }
#ifdef TIMEOUTS
          :: k <= N && reads[k] -> wants[me] = false; break
#endif
          od;
          if
          :: k > N ->
#ifndef BUG_CLEARS_FIRST
             readers = false;
#endif
             d_step { k = 0; assert(reading == 0); alone = true; wants[me] = false }
          :: else -> k = 0
          fi
       :: d_step { !readers -> assert(reading == 0); alone = true; wants[me] = false }
       fi;
#endif
       release(me, t);
#ifdef STUCK
       goto over;
stuck: run Keeper(me);
over:  skip;
#endif
#ifdef READERS
       if
       :: k == SLOTS ->
#ifdef BUG_READS_LATE
          read(me);
#endif
          readNoMore(me); k = 0
       :: else
       fi;
#endif
again: t = 0
    od;
#ifdef KEEPER
    skip
    } unless { dead[me] };
    skip;
    d_step { t = 0; n = 0; m = 0; rounds = 0; RESET_K }
#endif
}

#ifdef KEEPER
/* Somebody who is not free has seen d as the last of the queue. One look at each, as the keeper does. */
inline findFollower(d) {
    k = 1; found = false;
    do
    :: k > N || found -> break
    :: else -> d_step { found = prev[k] == REF(d) && state[k] != FREE; k++ }
    od;
    k = 0
}

inline settleHead(x) {
    do
    :: n = next[x];
       if
       :: n == 0 ->
          if
          :: d_step { tail[c] == REF(x) -> tail[c] = 0; leaves(x) }
          :: tail[c] != REF(x) -> findFollower(x); if :: found -> goto later :: else fi
          fi;
          break
       :: else
       fi;
       if
       :: d_step { SAME(n) && state[SLOT(n)] == WAITING -> state[SLOT(n)] = HEAD; budget[SLOT(n)] = 0; leaves(x) }
#ifdef BELLS
          if
          :: c == 1 -> rings ! n, 0
          :: else
          fi;
#endif
          break
       :: d_step { SAME(n) && state[SLOT(n)] == GONE -> m = next[SLOT(n)] }
          if
          :: m == 0 ->
             if
             :: d_step { tail[c] == n -> tail[c] = 0; leaves(x) }
             :: tail[c] != n -> findFollower(SLOT(n)); if :: found -> goto later :: else fi
             fi;
             freed(SLOT(n));
             break
          :: else
          fi;
#ifndef BUG_NOT_SKIPPED
          skipped[x] = n;
#endif
          next[x] = m;
          freed(SLOT(n))
       :: !SAME(n) || (state[SLOT(n)] != WAITING && state[SLOT(n)] != GONE) -> break
       fi
    od;
    d_step { leaves(x); freed(x) }
}

#define SEES(y, d) (prev[y] == REF(d) && state[y] != FREE)
#if N == 2
#define FOLLOWED(d) (SEES(1, d) || SEES(2, d))
#elif N == 3
#define FOLLOWED(d) (SEES(1, d) || SEES(2, d) || SEES(3, d))
#else
#define FOLLOWED(d) (SEES(1, d) || SEES(2, d) || SEES(3, d) || SEES(4, d))
#endif
#define LAST(d) (next[d] -> SLOT(next[d]) : d)

/*
 * What the keeper does for x, who is dead. It does so for one at a time. Where it would come again later, it waits here for what it would find then, so that a
 * wait without end is found.
 */
proctype Keeper(byte x) {
    byte n, m, k, c, p;
    bool found;
    c = COHORT(x);
#if KEEPER_DEATHS > 0
begin: skip;
    {
    skip;
#endif
#ifdef READERS
    if
    :: dead[x] && reads[x] -> readNoMore(x)
    :: else
    fi;
#endif
again: skip;
    d_step { !keeping -> keeping = true }
    if
    :: d_step { skipped[x] != 0 && next[x] != skipped[x] && SAME(skipped[x]) && state[SLOT(skipped[x])] == GONE -> n = skipped[x] }
       freed(SLOT(n))
    :: else
    fi;
    if
    :: state[x] == FREE -> goto over
    :: state[x] == WAITING ->
       if
       :: next[x] == 0 ->
          if
          :: tail[c] != REF(x) ->
             findFollower(x);
             if
             :: !found -> freed(x); goto over
             :: else
             fi
          :: tail[c] == REF(x)
          fi
       :: else
       fi;
#ifndef BUG_NO_LINK
       p = prev[x];
       if
       :: d_step { SAME(p) && next[SLOT(p)] == 0 -> skip }
          if
          :: SAME(p) -> next[SLOT(p)] = REF(x)
          :: else
          fi
       :: else
       fi;
#endif
       if
       :: d_step { state[x] == WAITING -> state[x] = GONE }
       :: state[x] == HEAD -> settleHead(x); goto over
       fi
    :: state[x] == HEAD -> settleHead(x); goto over
    :: state[x] == GONE
    fi;
later: skip;
    d_step { keeping = false; n = 0; m = 0; k = 0; p = 0; found = false }
    if
    :: state[x] == GONE -> (state[x] == FREE)
    :: else -> (next[LAST(x)] != 0 || !FOLLOWED(LAST(x)))
    fi;
    goto again;
over: skip;
    d_step { keeping = false; n = 0; m = 0; k = 0; p = 0; found = false }
#if KEEPER_DEATHS > 0
    } unless { keeperDead };
    skip;
    if
    :: d_step { keeperDead -> keeperDead = false; keeping = false; n = 0; m = 0; k = 0; p = 0; found = false } goto begin
    :: else
    fi
#endif
}

#if DEATHS > 0
/* Kills whom it likes, when it likes; the kernel's lock or the lease tells the keeper. */
proctype Killer() {
    byte x, deaths;
#if KEEPER_DEATHS > 0
    byte keepers;
#endif
    do
#if KEEPER_DEATHS > 0
    :: d_step { deaths > 0 && keepers < KEEPER_DEATHS && !keeperDead -> keeperDead = true; keepers++ }
#endif
#ifdef TOGETHER
    :: atomic { deaths < DEATHS -> d_step { dead[N - 1] = true; dead[N] = true; deaths++; passes(N - 1); passes(N) } run Keeper(N - 1); run Keeper(N) }
#else
#ifdef DIES
    :: deaths < DEATHS -> x = DIES;
#else
    :: deaths < DEATHS -> select(x : 1 .. N); skip;
#endif
       if
       :: !dead[x] -> atomic { d_step { dead[x] = true; deaths++; passes(x) } run Keeper(x); x = 0 }
       :: else -> x = 0
       fi
#endif
    :: break
    od;
    x = 0; deaths = 0
#if KEEPER_DEATHS > 0
    ; keepers = 0
#endif
}
#endif
#endif

#ifdef BELLS
/* Rings arrive, in any order. */
proctype Bells() {
    byte n, g;
end: do
    :: d_step { rings ? n, g -> bell[SLOT(n)] = n; rung[SLOT(n)] = g; n = 0; g = 0 }
    :: d_step { full(rings) -> rings ? n, g; rings ! n, g; n = 0; g = 0 }
    od
}
#endif

#ifdef ROUNDS
/* When nobody can take a step any more, all have left. */
proctype End() {
    byte i = 1;
    timeout;
    assert(tail[0] == 0 && tail[1] == 0 && NOBODY_READS);
    do
    :: i <= N -> assert(state[i] == FREE); i++
    :: else -> break
    od
}
#endif

init {
    atomic {
        byte i = 1;
        do
        :: i <= N -> run Thread(i); i++
        :: else -> break
        od;
#if DEATHS > 0
        run Killer();
#endif
#ifdef BELLS
        run Bells();
#endif
#ifdef ROUNDS
        run End();
#endif
    }
}

#ifdef LIVE
/* Whoever is in a queue gets the lock, if every thread that can go on does. */
ltl locals { [] (wants[1] -> <> !wants[1]) }
ltl remotes { [] (wants[N] -> <> !wants[N]) }
#endif
