/** Decisions from memory: slots are leased ahead in blocks, and scores are reported behind. */
import { randomUUID } from "node:crypto";

import type { Client } from "openapi-fetch";

import { InvalidInput, NoDecision, RequestRefused, StreamFull } from "./errors.js";
import { type Answer, type Batch, Journal } from "./journal.js";
import type { components, paths } from "./schema.js";

type Campaign = components["schemas"]["Campaign"];
type Asked = components["schemas"]["Lease"] | components["schemas"]["Wait"] | components["schemas"]["Finished"];
type ToldLine = components["schemas"]["ToldLine"];
type Reply<T> = Promise<{ data?: T; error?: unknown; response: Response }>;

const AHEAD = 2_000; // slots in memory last so many milliseconds at the recent rate
const FEWEST_AHEAD = 32;
const FLUSH = 1_000; // the longest that an answer waits before it is sent, in milliseconds
const MOST_AT_ONCE = 20_000; // answers of a batch
const LONGEST_LINE = 200_000; // characters of a line, of which each takes at most three bytes
const MOST_WAITING = 1_000_000; // answers that wait without a journal
const LARGEST_LEASE = 10_000;
const SHORTEST_PAUSE = 50; // between two asks while there is nothing to lease
const AWAY = 1_000; // between two tries while the service is away
// What to do about a refusal, by its code.
const REMEDIES: Record<string, string> = {
  no_key: "; check the API key: it may be mistyped, revoked or expired",
  not_allowed: "; a stream needs an API key with the scopes ask, tell and read",
  gives_blocks: "; a stream cannot, because it leases slots before it knows who rates them",
  no_such_campaign: "; check the id, and that the API key is of the campaign's tenant",
};
const CAMPAIGN = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const RATER = /^[!-?A-~]{1,64}$/;

/** A decision that was made without asking the service. */
export interface Decision {
  /** The name of the group to choose from. */
  readonly arm: string;
  /** The number of the lease; -1 for a fallback. */
  readonly lease: number;
  /** The slot of that lease. */
  readonly slot: number;
  /** When the lease expires, by `performance.now()`. */
  readonly until: number;
  /** Whether the fallback made it, because no slot was in memory; it never counts. */
  readonly isFallback: boolean;
}

/** Who gave a score: a pseudonym, and the group of the campaign that they belong to. */
export interface Rater {
  rater?: string;
  group?: string;
}

export interface StreamOptions {
  /** The decision if no slot is in memory: the name of a group of the campaign, or a function that returns one. */
  fallback?: string | (() => string);
  /** A file for answers that are not acknowledged yet; the next stream with it sends what a killed process left. */
  journal?: string;
  /** "disk": answers survive a failure of the machine. "kernel", the default: the end of the process. */
  sync?: "disk" | "kernel";
  /** Bytes of the journal at most; by default 64 MiB. */
  largestJournal?: number;
  /** Takes each new `problem`; by default `console.warn`. */
  warn?: (problem: string) => void;
}

/** Counts of decisions and answers: `told` is `sent` and `waiting` together; `sent` is the four after it. */
export interface StreamStats {
  /** Decisions from leased slots. */
  decided: number;
  /** Decisions of the fallback. */
  fallback: number;
  /** Slots that were leased and not used in time; they are offered to others. */
  expired: number;
  /** Answers that `tell` took, those of fallbacks left out. */
  told: number;
  /** Of these, answers that the service acknowledged. */
  sent: number;
  /** Of these, answers that entered the comparison. */
  counted: number;
  /** Answers that came too late to count. */
  late: number;
  /** Answers to slots that had one already. */
  duplicate: number;
  /** Answers that the service refused. */
  dropped: number;
  /** Answers that have not been acknowledged yet, or were refused because of the API key. */
  waiting: number;
  /** Slots in memory. */
  ready: number;
}

interface LocalLease {
  readonly stream: DecisionStream;
  readonly number: number;
  readonly until: number;
  owed: number; // slots without a score
}

class Leased implements Decision {
  readonly isFallback = false;
  isTold = false;

  constructor(
    readonly from: LocalLease,
    readonly slot: number,
    readonly arm: string,
  ) {}

  get lease(): number {
    return this.from.number;
  }

  get until(): number {
    return this.from.until;
  }
}

/** A pause that can be cut short. */
class Pause {
  end = (): void => {};

  wait(milliseconds: number, keepsProcess: boolean): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, milliseconds);
      if (!keepsProcess) timer.unref();
      this.end = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

/**
 * Decisions from leased slots in memory; `connect(...).stream` makes one.
 *
 * Slots are leased and answers are sent between the turns of the event loop. A process without
 * anything else to do ends once its answers are sent; `close` also gives unused slots back.
 */
export class DecisionStream {
  /** The status once the campaign hands out no more slots: "exhausted" or "stopped". */
  ended: string | undefined;
  readonly #client: Client<paths>;
  readonly #params: { path: { campaign: string } };
  readonly #fallback: string | (() => string) | undefined;
  readonly #journal: Journal | undefined;
  readonly #key = randomUUID();
  readonly #leases = new Map<number, LocalLease>();
  readonly #seen = { decided: 0, fallback: 0, expired: 0, told: 0, sent: 0, counted: 0, late: 0, duplicate: 0, dropped: 0 };
  readonly #requests = new Set<AbortController>();
  readonly #leasePause = new Pause();
  readonly #reportPause = new Pause();
  #limits: Campaign | undefined;
  readonly #warn: (problem: string) => void;
  #warned: string | undefined;
  #error: RequestRefused | InvalidInput | undefined; // after which nothing is leased or sent
  #away: string | undefined; // why the last request had no reply
  #refusal: string | undefined; // of the last answers that were refused
  #ready: Leased[] = [];
  #used = 0; // of these, taken by `next`
  #unsent: Answer[] = [];
  #batch: Batch | undefined;
  #batches = 0;
  #kept = 0; // answers that were refused because of the API key
  #flush: NodeJS.Timeout | undefined;
  #ask: { key: string; count: number; until: number } | undefined; // without a reply yet
  #leasing: Promise<void> | undefined;
  #reporting: Promise<void> | undefined;
  #closing: Promise<void> | undefined;
  #isOver = false;
  #looked = performance.now();
  #decidedThen = 0;
  #rate = 0; // decisions per millisecond
  #most = FEWEST_AHEAD;
  #low = 0;

  /** @internal */
  constructor(client: Client<paths>, campaign: string, options: StreamOptions) {
    const { fallback, journal, sync = "kernel", largestJournal = 64 * 2 ** 20, warn = console.warn } = options;
    if (!CAMPAIGN.test(campaign)) throw new InvalidInput("campaign", "the id of a campaign", campaign);
    if (!["undefined", "string", "function"].includes(typeof fallback))
      throw new InvalidInput("fallback", "the name of a group, or a function that returns one", fallback);
    if (!["disk", "kernel"].includes(sync)) throw new InvalidInput("sync", "'disk' or 'kernel'", sync);
    this.#client = client;
    this.#params = { path: { campaign } };
    this.#fallback = fallback;
    this.#warn = (problem) => warn(`stream of campaign ${campaign}: ${problem}`);
    if (journal !== undefined) {
      this.#journal = new Journal(journal, campaign, sync, largestJournal);
      ({ batch: this.#batch, unsent: this.#unsent } = this.#journal);
      this.#seen.told = this.stats().waiting;
    }
    this.#lease();
    this.#report();
  }

  /** Why the service refused a request or cannot be reached; undefined while all is well. */
  get problem(): string | undefined {
    return this.#error?.message ?? this.#away ?? this.#refusal;
  }

  /**
   * Return a decision from memory, in microseconds; never wait for the service.
   *
   * Throws `NoDecision` if no slot is in memory and there is no fallback, `InvalidInput` if the
   * fallback is not a group of the campaign.
   */
  next(): Decision {
    const now = performance.now();
    while (this.#used < this.#ready.length) {
      const found = this.#ready[this.#used++]!;
      if (found.until > now) {
        this.#seen.decided++;
        if (this.#ready.length - this.#used <= this.#low) this.#lease();
        return found;
      }
      this.#seen.expired++;
      this.#remove(found);
    }
    this.#lease();
    if (this.#unsent.length > 0) this.#report();
    const arm = typeof this.#fallback === "function" ? this.#fallback() : this.#fallback;
    if (arm === undefined) throw new NoDecision(this.#whyNone());
    this.#checkFallback(arm);
    this.#seen.fallback++;
    return { arm, lease: -1, slot: -1, until: Infinity, isFallback: true };
  }

  /**
   * Take the score of a decision, which is sent within a second.
   *
   * Throws `StreamFull` if the answer was not taken because too many wait for the service.
   */
  tell(decision: Decision, score: number, rater?: Rater): void {
    if (decision.isFallback) return;
    if (!(decision instanceof Leased) || decision.from.stream !== this || decision.isTold)
      throw new InvalidInput("decision", "one of this stream without a score yet", `slot ${decision.slot} of lease ${decision.lease}`);
    if (this.#closing) throw new InvalidInput("decision", "told before its stream is closed", decision.arm);
    // Checked here, because the service refuses all answers of a line that has a wrong one.
    const { lowest, highest, arms } = this.#limits!;
    if (typeof score !== "number" || !(lowest <= score && score <= highest))
      throw new InvalidInput("score", `a number from ${lowest} to ${highest}`, score);
    const { rater: who, group } = rater ?? {};
    if (who !== undefined && !(typeof who === "string" && RATER.test(who)))
      throw new InvalidInput("rater", "a pseudonym without spaces and no e-mail address, such as r17", who);
    if (group !== undefined && !arms.some(({ name }) => name === group))
      throw new InvalidInput("rater", "of a group of the campaign", group);
    const answer: Answer = [decision.lease, decision.slot, score, who ?? null, group ?? null];
    if (this.#journal !== undefined) this.#journal.append(answer);
    else if (this.#unsent.length >= MOST_WAITING)
      throw new StreamFull(`${MOST_WAITING} answers wait for the service; is it up?`);
    this.#unsent.push(answer);
    this.#seen.told++;
    decision.isTold = true;
    this.#remove(decision);
    if (this.#isDue()) this.#report();
    else this.#flush ??= setTimeout(() => this.#report(), FLUSH);
  }

  /** Return the counts so far. */
  stats(): StreamStats {
    const waiting = this.#unsent.length + (this.#batch?.answers.length ?? 0) + this.#kept;
    return { ...this.#seen, waiting, ready: this.#ready.length - this.#used };
  }

  /**
   * Wait until a slot is in memory or the campaign has ended; return whether one is.
   *
   * Throws `InvalidInput` if the fallback is not a group of the campaign.
   */
  async wait(seconds = 10): Promise<boolean> {
    const end = performance.now() + seconds * 1_000;
    while (this.stats().ready === 0 && this.#goesOn() && performance.now() < end)
      await new Promise((resolve) => setTimeout(resolve, 2));
    if (this.#error instanceof InvalidInput) throw this.#error;
    return this.stats().ready > 0;
  }

  /**
   * Send what waits, give unused slots back, and stop.
   *
   * What the service has not acknowledged after these seconds stays in the journal, and is lost
   * without one: see `stats().waiting`.
   */
  close(seconds = 10): Promise<void> {
    return (this.#closing ??= this.#finish(seconds));
  }

  async #finish(seconds: number): Promise<void> {
    const deadline = setTimeout(() => {
      this.#isOver = true;
      for (const request of this.#requests) request.abort();
      this.#reportPause.end();
    }, seconds * 1_000);
    await null; // `close` has set what the rest asks for
    this.#leasePause.end();
    this.#reportPause.end();
    if (this.#isDue()) this.#report();
    await Promise.all([this.#leasing, this.#reporting]);
    this.#ready = [];
    this.#used = 0;
    for (const { number } of this.#leases.values()) {
      if (this.#isOver || this.#error !== undefined) break; // they expire
      const body = { lease: number };
      await this.#send((more) => this.#client.POST("/v1/campaigns/{campaign}/release", { ...more, body })).catch(
        () => (this.#isOver = true),
      );
    }
    clearTimeout(deadline);
    clearTimeout(this.#flush);
    this.#journal?.close(this.stats().waiting === 0);
  }

  /** Check that a fallback is a group of the campaign, once the campaign is known. */
  #checkFallback(arm: unknown): void {
    const names = this.#limits?.arms.map(({ name }) => name) ?? [arm];
    if (!names.includes(arm as string))
      throw new InvalidInput("fallback", `a group of the campaign, one of ${JSON.stringify(names)}`, arm);
  }

  #goesOn(): boolean {
    return this.ended === undefined && this.#error === undefined && this.#closing === undefined;
  }

  #whyNone(): string {
    if (this.#error !== undefined) return `the service refused a request: ${this.#error.message}`;
    if (this.ended !== undefined) return `the campaign is ${this.ended}`;
    return "no slot is in memory: the service is away, or the round waits for other answers";
  }

  #remove(slot: Leased): void {
    if (--slot.from.owed === 0) this.#leases.delete(slot.lease);
  }

  /** Lease slots, if that is not being done. */
  #lease(): void {
    if (this.#goesOn()) this.#leasing ??= this.#keepLeasing();
  }

  async #keepLeasing(): Promise<void> {
    await null; // so that `next` need not wait until a request is put together
    while (this.#goesOn()) {
      const wanted = this.#ask?.count ?? this.#wanted();
      if (wanted === 0) break;
      let pause: number;
      try {
        this.#limits ??= await this.#send((more) => this.#client.GET("/v1/campaigns/{campaign}", more));
        if (typeof this.#fallback === "string") this.#checkFallback(this.#fallback);
        const until = performance.now() + this.#limits.lease_seconds * 1_000;
        // A repeat is the same request: had the first been heard, its slots would be lost.
        const { key, count } = (this.#ask ??= { key: randomUUID(), count: wanted, until });
        const body = { count, listed: false };
        const found = await this.#send((more) => this.#client.POST("/v1/campaigns/{campaign}/ask", { ...more, body }), key);
        pause = this.#take(found as Asked);
      } catch (error) {
        pause = this.#pauseAfter(error);
      }
      if (pause > 0 && this.#goesOn()) await this.#leasePause.wait(pause, false);
    }
    this.#leasing = undefined;
  }

  /** Return how many slots to ask for now. */
  #wanted(): number {
    const passed = performance.now() - this.#looked;
    if (passed >= SHORTEST_PAUSE) {
      this.#rate = Math.max((this.#seen.decided - this.#decidedThen) / passed, this.#rate / 2);
      this.#looked += passed;
      this.#decidedThen = this.#seen.decided;
    }
    const lasting = Math.min(AHEAD, (this.#limits?.lease_seconds ?? Infinity) * 500);
    const ahead = Math.min(LARGEST_LEASE, this.#most, Math.max(FEWEST_AHEAD, this.#rate * lasting));
    const ready = this.#ready.length - this.#used;
    this.#low = Math.floor(ahead / 2);
    return ready > this.#low ? 0 : Math.max(1, Math.floor(ahead) - ready);
  }

  /**
   * Take the reply to an ask; return the milliseconds to wait before the next.
   *
   * Streams share the slots that may be under way. A stream that gets fewer than it asked for asks
   * for half as many next time; one that gets them all may ask for twice as many.
   */
  #take(found: Asked): number {
    const { count, until } = this.#ask!;
    this.#ask = undefined;
    if (found.status === "wait") {
      this.#most = Math.max(1, Math.floor(this.#most / 2));
      return Math.min(AWAY, Math.max(SHORTEST_PAUSE, found.retry_after * 1_000));
    }
    if (found.status !== "leased") {
      this.ended = found.status;
      return 0;
    }
    const lease: LocalLease = { stream: this, number: found.lease, until, owed: 0 };
    const made: Leased[] = [];
    for (const [first, number] of found.runs)
      for (let slot = first; slot < first + number; slot++)
        made.push(new Leased(lease, slot, found.arms[slot % found.arms.length]!));
    lease.owed = made.length;
    // What has expired need not be given back.
    for (const old of this.#leases.values()) if (old.until < performance.now()) this.#leases.delete(old.number);
    this.#leases.set(lease.number, lease);
    this.#ready = [...this.#ready.slice(this.#used), ...made];
    this.#used = 0;
    this.#most = made.length >= count ? this.#most + count : Math.max(1, Math.floor(this.#most / 2));
    return 0;
  }

  #isDue(): boolean {
    const waits = this.#unsent.length > 0 && (this.#closing !== undefined || this.#used === this.#ready.length);
    return this.#batch !== undefined || waits || this.#unsent.length >= MOST_AT_ONCE;
  }

  /** Send answers, if that is not being done. */
  #report(): void {
    this.#reporting ??= this.#keepReporting();
  }

  async #keepReporting(): Promise<void> {
    await null; // so that what is told together is sent together
    clearTimeout(this.#flush);
    this.#flush = undefined;
    for (let isDue = this.stats().waiting > 0; isDue && this.#error === undefined && !this.#isOver; isDue = this.#isDue()) {
      let pause: number;
      try {
        pause = await this.#sendBatch((this.#batch ??= this.#nextBatch()));
      } catch (error) {
        pause = this.#pauseAfter(error);
      }
      if (pause > 0 && !this.#isOver) await this.#reportPause.wait(pause, true);
    }
    this.#reporting = undefined;
    if (this.#unsent.length > 0 && this.#error === undefined) this.#flush = setTimeout(() => this.#report(), FLUSH);
  }

  #nextBatch(): Batch {
    const batch = { key: `${this.#key}-${++this.#batches}`, answers: this.#unsent.splice(0, MOST_AT_ONCE) };
    this.#journal?.begin(batch);
    return batch;
  }

  /** Send a batch; return the milliseconds to wait before it is sent again, 0 if it is settled. */
  async #sendBatch(batch: Batch): Promise<number> {
    const { text, leases, answers } = bulkLines(batch);
    const refused = new Set<number>();
    const form = { bodySerializer: () => text, parseAs: "text", headers: { "Content-Type": "application/x-ndjson" } } as const;
    const body = { lease: 0 }; // the serializer takes the lines instead
    const replied: unknown = await this.#send(
      (more) => this.#client.POST("/v1/campaigns/{campaign}/tells", { ...more, ...form, body }),
      batch.key,
    );
    const lines: ToldLine[] = String(replied).trimEnd().split("\n").map((one) => JSON.parse(one));
    if (lines.length !== answers.length || lines.some(({ status }) => isTransient(status))) return AWAY;
    for (const [at, line] of lines.entries()) {
      if (line.status === 401 || line.status === 403) {
        refused.add(leases[at]!);
        this.#refusal = `${line.detail}; its answers are kept for a stream with that key`;
        continue;
      }
      this.#seen.sent += answers[at]!;
      this.#seen.counted += line.counted ?? 0;
      this.#seen.late += line.late ?? 0;
      this.#seen.duplicate += line.duplicate ?? 0;
      if (line.status !== 200) {
        this.#seen.dropped += answers[at]!;
        this.#refusal = line.detail ?? undefined;
      }
    }
    const kept = batch.answers.filter(([lease]) => refused.has(lease));
    this.#kept += kept.length;
    this.#batch = undefined;
    this.#journal?.settle(batch, kept, this.#unsent);
    this.#say();
    this.#leasePause.end(); // the answers may have made room
    return 0;
  }

  /** Send a request once; throw `RequestRefused` if the service refuses it, and something else if it is away. */
  async #send<T>(
    request: (more: { params: { path: { campaign: string } }; signal: AbortSignal }) => Reply<T>,
    key: string = randomUUID(),
  ): Promise<T> {
    const limit = new AbortController();
    this.#requests.add(limit);
    try {
      const params = { ...this.#params, header: { "Idempotency-Key": key } };
      const { data, error, response } = await request({ params, signal: limit.signal });
      if (isTransient(response.status)) throw new Error(`HTTP ${response.status}`);
      this.#away = undefined;
      if (data !== undefined) return data;
      const { detail, code } = (error ?? {}) as { detail?: string; code?: string };
      const text = detail ?? "the reply is not one of the service: is this its address?";
      throw new RequestRefused(response.status, text, REMEDIES[code ?? ""]);
    } finally {
      this.#requests.delete(limit);
    }
  }

  /** Return the milliseconds to wait after a request failed, 0 if it is not to be sent again. */
  #pauseAfter(error: unknown): number {
    const isFinal = error instanceof RequestRefused || error instanceof InvalidInput;
    if (isFinal) this.#error = error;
    else if (!this.#isOver) {
      const { message, cause } = error as Error;
      this.#away = `no good reply: ${cause ?? message}; is the service up, and is this its address? (the stream tries again by itself)`;
    }
    this.#say();
    return isFinal ? 0 : AWAY;
  }

  /** Warn of the problem, if it is new. */
  #say(): void {
    if (this.problem !== undefined && this.problem !== this.#warned) this.#warn(this.problem);
    this.#warned = this.problem;
  }
}

function isTransient(status: number): boolean {
  return status >= 500 || status === 429;
}

/** Return a batch as lines of a bulk request, which are the same each time, and the lease and answers of each. */
function bulkLines(batch: Batch): { text: string; leases: number[]; answers: number[] } {
  const lines: { lease: number; told: string[]; size: number }[] = [];
  const open = new Map<number, (typeof lines)[number]>();
  for (const [lease, slot, score, rater, group] of batch.answers) {
    let line = open.get(lease);
    if (line === undefined || line.size > LONGEST_LINE) {
      line = { lease, told: [], size: 0 };
      lines.push(line);
      open.set(lease, line);
    }
    const answer = JSON.stringify({ slot, score, rater: rater ?? undefined, rater_group: group ?? undefined });
    line.told.push(answer);
    line.size += answer.length;
  }
  const text = lines.map(({ lease, told }, at) => `{"lease":${lease},"key":"${batch.key}.${at}","answers":[${told}]}\n`);
  return { text: text.join(""), leases: lines.map(({ lease }) => lease), answers: lines.map(({ told }) => told.length) };
}
