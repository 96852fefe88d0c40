/** Answers of a stream that the service has not acknowledged yet, in a file. */
import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import { hostname } from "node:os";
import { basename, dirname, join } from "node:path";

import { InvalidInput, StreamFull } from "./errors.js";

const { O_APPEND, O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDWR } = fs.constants;
const ORDINARY = "an ordinary file: no symbolic link, device or pipe";
const LONGEST_NAME = 200; // characters of the process that has a journal open

export type Answer = [lease: number, slot: number, score: number, rater: string | null, group: string | null];

/** Answers that are sent together, under the same idempotency key at every try. */
export interface Batch {
  key: string;
  answers: Answer[];
}

/**
 * A file with the answers and batches that have not been acknowledged.
 *
 * The file is a log, and the Python client reads and writes the same. Its first line names the
 * campaign. Then there is a line for each answer, for each batch when it is first sent, and for each
 * batch when the service has replied, with the positions of the answers that it refused because of
 * the API key. The next stream sends those again.
 *
 * Lines are written in order. A line that does not fit on the disk is written before the next one, so
 * the file is always the log up to some moment after the last accepted answer. Lines that are missing
 * at its end lose nothing: answers that are not on record as sent are sent under another key, a batch
 * without a reply on record is sent again, and each slot counts once.
 */
export class Journal {
  /** The batch that a predecessor sent and the service did not acknowledge. */
  batch: Batch | undefined;
  /** The answers after it. */
  unsent: Answer[] = [];
  #file: number;
  #size = 0;
  #kept: Answer[] = []; // refused because of the API key
  #owed = ""; // lines that could not be written
  #isTorn = false; // whether the file may end in a part of a line
  #isPlaced = true; // whether the folder's entry of the file is on the disk
  readonly #head: string;
  readonly #unlock: () => void;

  constructor(
    readonly path: string,
    campaign: string,
    readonly sync: "disk" | "kernel",
    readonly largest: number,
  ) {
    if (process.platform === "win32") throw new InvalidInput("journal", "left out on Windows", path);
    this.#head = line({ campaign });
    try {
      this.#unlock = lock(path);
      try {
        this.#file = open(path);
        try {
          this.#recover();
          this.#rewrite(this.batch, this.unsent);
          this.#write();
        } catch (error) {
          fs.closeSync(this.#file);
          throw error;
        }
      } catch (error) {
        this.#unlock();
        throw error;
      }
    } catch (error) {
      if (!isOfSystem(error)) throw error;
      throw new InvalidInput("journal", `a file to write to (${error.message})`, path);
    }
  }

  /** Add an answer. */
  append(answer: Answer): void {
    const text = line(answer);
    if (this.#size + Buffer.byteLength(this.#owed) + Buffer.byteLength(text) > this.largest)
      throw new StreamFull(`${this.largest} bytes of answers in the journal ${this.path} wait for the service; is it up?`);
    this.#write(text);
  }

  /** Note that the oldest answers are about to be sent as a batch. */
  begin(batch: Batch): void {
    this.#owed += sentLine(batch);
    tryTo(() => this.#write());
  }

  /** Note that the service replied to a batch, but for answers to keep for the next stream; shorten the file if it is long. */
  settle(batch: Batch, kept: Answer[], unsent: Answer[]): void {
    const refused = new Set(kept);
    const settled = [...batch.answers.keys()].filter((place) => refused.has(batch.answers[place]!));
    this.#kept.push(...kept);
    this.#owed += line({ settled });
    if (this.#size > this.largest / 2 || unsent.length === 0) tryTo(() => this.#rewrite(undefined, unsent));
    tryTo(() => this.#write());
  }

  /** Close the file; remove it if everything in it was acknowledged. */
  close(empty: boolean): void {
    tryTo(() => (empty ? fs.rmSync(this.path, { force: true }) : this.#write()));
    fs.closeSync(this.#file);
    this.#unlock();
  }

  /** Replay the log. An incomplete last line is ignored: its answer was never accepted. */
  #recover(): void {
    const text = fs.readFileSync(this.#file, "utf8");
    if (!text.startsWith(this.#head) && !this.#head.startsWith(text))
      throw new InvalidInput("journal", `a new file, or one whose line 1 is ${this.#head.trimEnd()}`, this.path);
    for (const [at, one] of text.split("\n").slice(1, -1).entries())
      if (!this.#replay(parsed(one))) throw damaged(this.path, at + 2);
    this.unsent = [...this.#kept, ...this.unsent];
    this.#kept = [];
  }

  /** Do what a line of the log says; return whether it says something of the kind. */
  #replay(found: unknown): boolean {
    if (isAnswer(found)) return this.unsent.push(found) > 0;
    const { sent, answers, settled, kept } = Object(found) as Record<string, unknown>;
    const { batch } = this;
    if (typeof sent === "string" && isWhole(answers, this.unsent.length) && answers > 0) {
      // A batch whose reply is not on record, because somebody removed that line.
      if (batch !== undefined) this.#kept.push(...batch.answers);
      this.batch = { key: sent, answers: this.unsent.splice(0, answers) };
    } else if (Array.isArray(settled) && batch !== undefined) {
      const known = settled.every((place, at) => isWhole(place, batch.answers.length - 1) && (at === 0 || place > settled[at - 1]));
      if (!known) return false;
      this.#kept.push(...settled.map((place) => batch.answers[place]!));
      this.batch = undefined;
    } else if (kept !== undefined && kept === this.unsent.length && batch === undefined) {
      this.#kept = this.unsent.splice(0);
    } else return false;
    return true;
  }

  /** Replace the file by one with what is needed; a crash leaves one or the other. */
  #rewrite(batch: Batch | undefined, unsent: Answer[]): void {
    const sent = batch === undefined ? [] : [...batch.answers.map(line), sentLine(batch)];
    const kept = this.#kept.length === 0 ? [] : [...this.#kept.map(line), line({ kept: this.#kept.length })];
    const text = [this.#head, ...kept, ...sent, ...unsent.map(line)].join("");
    const temporary = join(dirname(this.path), `.${basename(this.path)}.new`);
    try {
      fs.rmSync(temporary, { force: true }); // of a process that was killed
      const file = fs.openSync(temporary, O_RDWR | O_CREAT | O_APPEND | O_EXCL, 0o600);
      try {
        writeAll(file, text);
        if (this.sync === "disk") fs.fsyncSync(file);
        fs.renameSync(temporary, this.path);
      } catch (error) {
        fs.closeSync(file);
        fs.rmSync(temporary, { force: true });
        throw error;
      }
      fs.closeSync(this.#file);
      this.#file = file;
    } catch (error) {
      throw unwritable(this.path, error);
    }
    this.#size = Buffer.byteLength(text);
    this.#owed = "";
    this.#isTorn = false;
    this.#isPlaced = this.sync !== "disk";
  }

  /** Append the lines that could not be written before, and this one: all or none. */
  #write(last = ""): void {
    const text = this.#owed + last;
    if (text === "" && this.#isPlaced) return;
    try {
      if (this.#isTorn) fs.ftruncateSync(this.#file, this.#size);
      this.#isTorn = true;
      writeAll(this.#file, text);
      if (this.sync === "disk") fs.fsyncSync(this.#file);
      if (!this.#isPlaced) syncFolder(dirname(this.path));
      this.#isPlaced = true;
      this.#isTorn = false;
    } catch (error) {
      tryTo(() => {
        fs.ftruncateSync(this.#file, this.#size);
        this.#isTorn = false;
      });
      throw unwritable(this.path, error);
    }
    this.#owed = "";
    this.#size += Buffer.byteLength(text);
  }

}

function line(value: unknown): string {
  return `${JSON.stringify(value)}\n`;
}

function sentLine(batch: Batch): string {
  return line({ sent: batch.key, answers: batch.answers.length });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isWhole(value: unknown, most = Infinity): value is number {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) <= most;
}

function isAnswer(found: unknown): found is Answer {
  if (!Array.isArray(found) || found.length !== 5) return false;
  const [lease, slot, score, ...names] = found;
  return isWhole(lease) && isWhole(slot) && Number.isFinite(score) && names.every((one) => one === null || typeof one === "string");
}

function isOfSystem(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && "syscall" in error;
}

/** Do what may fail without a loss, such as on a full disk. */
function tryTo(action: () => void): void {
  try {
    action();
  } catch (error) {
    if (!(error instanceof StreamFull || isOfSystem(error))) throw error;
  }
}

function unwritable(path: string, error: unknown): unknown {
  return isOfSystem(error) ? new StreamFull(`the journal ${path} cannot be written: ${error.message}`) : error;
}

/** Say which line of a journal cannot be read, and how to save the answers in the others. */
function damaged(path: string, number: number): InvalidInput {
  const error = new InvalidInput("journal", `without damage in line ${number}`, path);
  const [old, mended] = [path, `${path}.mended`].map((one) => `'${one.replaceAll("'", "'\\''")}'`);
  error.message =
    `line ${number} of the journal ${path} is damaged; to keep the answers of all other lines, ` +
    `run: sed -n '1p; ${number}d; /^\\[/p' ${old} > ${mended} && mv ${mended} ${old}`;
  return error;
}

/**
 * Lock a journal for one stream; return a function that unlocks it.
 *
 * The lock is the kernel's (flock), on a file beside the journal; the Python client takes the same. It
 * ends with its process and holds in all containers of a machine.
 */
function lock(path: string): () => void {
  const held = `${path}.lock`;
  for (;;) {
    const file = open(held);
    try {
      if (!flock(file, path)) {
        const name = fs.readFileSync(file, "utf8").slice(0, LONGEST_NAME).split("\n")[0] || "another process";
        const rule = `a file that no other stream has open, and ${name} has; each process needs its own`;
        throw new InvalidInput("journal", rule, path);
      }
      if (isAt(file, held)) {
        // On a full disk it has no name.
        tryTo(() => {
          fs.ftruncateSync(file);
          writeAll(file, `process ${process.pid} on ${hostname()}\n`);
        });
        return () => {
          tryTo(() => fs.rmSync(held, { force: true }));
          fs.closeSync(file);
        };
      }
    } catch (error) {
      fs.closeSync(file);
      throw error;
    }
    fs.closeSync(file); // its holder removed it
  }
}

// Node.js cannot lock files. Programs can that inherit the open file, and the lock stays with it: of
// each, the status says 0 if it got the lock and 1 if another process has it.
const LOCKERS = [
  ["flock", "-n", "3"],
  ["perl", "-e", 'open(F, "+>&=", 3) or die; exit(flock(F, 6) ? 0 : $!{EWOULDBLOCK} ? 1 : 2)'],
] as const;

/** Lock an open file; return whether no other process has it locked. */
function flock(file: number, path: string): boolean {
  for (const [program, ...given] of LOCKERS) {
    const { error, status, stderr } = spawnSync(program, given, { stdio: ["ignore", "ignore", "pipe", file] });
    if (error !== undefined && "code" in error && error.code === "ENOENT") continue;
    if (status === 0 || status === 1) return status === 0;
    throw new InvalidInput("journal", `a file that can be locked (${program}: ${error?.message ?? stderr})`, path);
  }
  throw new InvalidInput("journal", "left out where neither flock (util-linux, BusyBox) nor perl is installed", path);
}

function isAt(file: number, path: string): boolean {
  const [ours, theirs] = [fs.fstatSync(file), fs.lstatSync(path, { throwIfNoEntry: false })];
  return ours.ino === theirs?.ino && ours.dev === theirs.dev;
}

/**
 * Open an ordinary file.
 *
 * A symbolic link is refused: its file may be open under another name, with another lock.
 */
function open(path: string): number {
  let file: number;
  try {
    // Without waiting for the other end of a pipe.
    file = fs.openSync(path, O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK, 0o600);
  } catch (error) {
    if (!isOfSystem(error) || error.code !== "ELOOP") throw error;
    throw new InvalidInput("journal", ORDINARY, path);
  }
  if (!fs.fstatSync(file).isFile()) {
    fs.closeSync(file);
    throw new InvalidInput("journal", ORDINARY, path);
  }
  return file;
}

function writeAll(file: number, text: string): void {
  const bytes = Buffer.from(text);
  for (let done = 0; done < bytes.length; ) done += fs.writeSync(file, bytes, done);
}

function syncFolder(path: string): void {
  const folder = fs.openSync(path, "r");
  try {
    fs.fsyncSync(folder);
  } finally {
    fs.closeSync(folder);
  }
}
