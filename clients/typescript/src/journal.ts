/** Answers of a stream that the service has not acknowledged yet, in a file. */
import * as fs from "node:fs";
import { basename, dirname, join } from "node:path";

import { InvalidInput, StreamFull } from "./errors.js";

const ALONE = "a file that no other stream has open: each process needs its own";

export type Answer = [lease: number, slot: number, score: number, rater: string | null, group: string | null];

/** Answers that are sent together, under the same idempotency key at every try. */
export interface Batch {
  key: string;
  answers: Answer[];
}

/**
 * A file with the answers and batches that have not been acknowledged.
 *
 * It has the format of the Python client: one line for each answer, and one for each batch when it is
 * first sent and when it is acknowledged. Answers that the service refused because of the API key
 * come first, with a line that counts them. A last line without a line end is ignored: its answer
 * was never accepted.
 */
export class Journal {
  /** The batch that a predecessor sent and the service did not acknowledge. */
  batch: Batch | undefined;
  /** The answers after it. */
  unsent: Answer[] = [];
  #file: number;
  #size = 0;
  #kept: Answer[] = []; // refused because of the API key
  readonly #head: string;

  constructor(
    readonly path: string,
    campaign: string,
    readonly sync: "disk" | "kernel",
    readonly largest: number,
  ) {
    if (process.platform === "win32") throw new InvalidInput("journal", "left out on Windows", path);
    this.#head = line({ campaign });
    try {
      lock(path);
      try {
        this.#recover(campaign);
        this.#file = this.#rewritten(this.batch, this.unsent);
      } catch (error) {
        unlock(path);
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
    if (this.#size + Buffer.byteLength(text) > this.largest)
      throw new StreamFull(`${this.largest} bytes of answers in the journal ${this.path} wait for the service; is it up?`);
    this.#size = this.#write(this.#file, this.#size, text);
  }

  /** Note that the oldest answers are about to be sent as a batch. */
  begin(batch: Batch): void {
    // Without the line, a successor would send the answers under another key: each slot counts once
    // all the same.
    this.#tryTo(() => {
      this.#size = this.#write(this.#file, this.#size, sentLine(batch));
    });
  }

  /** Note that the batch was acknowledged, but for answers to keep for the next stream; remove what is not needed. */
  settle(kept: Answer[], unsent: Answer[]): void {
    this.#kept.push(...kept);
    this.#tryTo(() => {
      if (this.#size > this.largest / 2 || unsent.length === 0 || kept.length > 0) {
        const old = this.#file;
        this.#file = this.#rewritten(undefined, unsent);
        fs.closeSync(old);
      } else {
        this.#size = this.#write(this.#file, this.#size, line({ settled: true }));
      }
    });
  }

  /** Close the file; remove it if everything in it was acknowledged. */
  close(empty: boolean): void {
    if (empty) fs.rmSync(this.path, { force: true });
    fs.closeSync(this.#file);
    unlock(this.path);
  }

  #recover(campaign: string): void {
    const text = fs.existsSync(this.path) ? fs.readFileSync(this.path, "utf8") : "";
    if (!text.startsWith(this.#head) && !this.#head.startsWith(text))
      throw new InvalidInput("journal", `a new file, or a journal of campaign ${campaign}`, this.path);
    let kept: Answer[] = [];
    for (const found of text.split("\n").slice(1, -1).map((one) => JSON.parse(one))) {
      if (Array.isArray(found)) this.unsent.push(found as Answer);
      else if ("sent" in found) this.batch = { key: found.sent, answers: this.unsent.splice(0, found.answers) };
      else if ("kept" in found) kept = this.unsent.splice(0);
      else this.batch = undefined;
    }
    this.unsent.unshift(...kept);
  }

  /** Replace the file by one with what is needed; a crash leaves one or the other. */
  #rewritten(batch: Batch | undefined, unsent: Answer[]): number {
    const sent = batch === undefined ? [] : [...batch.answers.map(line), sentLine(batch)];
    const kept = this.#kept.length === 0 ? [] : [...this.#kept.map(line), line({ kept: this.#kept.length })];
    const temporary = join(dirname(this.path), `.${basename(this.path)}.new`);
    const file = fs.openSync(temporary, "w", 0o600);
    try {
      const size = this.#write(file, 0, [this.#head, ...kept, ...sent, ...unsent.map(line)].join(""));
      fs.renameSync(temporary, this.path);
      this.#size = size;
    } catch (error) {
      fs.closeSync(file);
      throw error;
    }
    if (this.sync === "disk") {
      const folder = fs.openSync(dirname(this.path), "r");
      fs.fsyncSync(folder);
      fs.closeSync(folder);
    }
    return file;
  }

  /** Write at a place in the file, and remove again what cannot be written whole; return the new size. */
  #write(file: number, size: number, text: string): number {
    const bytes = Buffer.from(text);
    try {
      for (let done = 0; done < bytes.length; )
        done += fs.writeSync(file, bytes, done, bytes.length - done, size + done);
      if (this.sync === "disk") fs.fsyncSync(file);
    } catch (error) {
      fs.ftruncateSync(file, size);
      throw new StreamFull(`the journal ${this.path} cannot be written: ${(error as Error).message}`);
    }
    return size + bytes.length;
  }

  /** Do what may fail on a full disk without a loss. */
  #tryTo(write: () => void): void {
    try {
      write();
    } catch (error) {
      if (!(error instanceof StreamFull || isOfSystem(error))) throw error;
    }
  }
}

function line(value: unknown): string {
  return `${JSON.stringify(value)}\n`;
}

function sentLine(batch: Batch): string {
  return line({ sent: batch.key, answers: batch.answers.length });
}

function isOfSystem(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && "syscall" in error;
}

/** Name the process that has the journal open in a file beside it, as the Python client does: Node.js cannot lock files. */
function lock(path: string): void {
  const held = `${path}.lock`;
  const mine = `${held}.${process.pid}`;
  const stale = `${mine}.stale`;
  fs.writeFileSync(mine, running(process.pid) ?? "", { mode: 0o600 });
  try {
    while (!succeeds(() => fs.linkSync(mine, held))) {
      const found = read(held);
      if (found === undefined) continue;
      if (found === running(Number.parseInt(found)))
        throw new InvalidInput("journal", ALONE, path);
      // Its process is gone. Looked at again after the move, because others may be doing the same.
      if (!succeeds(() => fs.renameSync(held, stale))) continue;
      if (read(stale) !== found) succeeds(() => fs.linkSync(stale, held));
      fs.rmSync(stale);
    }
  } finally {
    fs.rmSync(mine);
  }
}

function unlock(path: string): void {
  fs.rmSync(`${path}.lock`, { force: true });
}

/** Return the id of a running process, on Linux with its start, since ids are given again. */
function running(pid: number): string | undefined {
  const stat = read(`/proc/${pid}/stat`);
  if (stat !== undefined) return `${pid} ${stat.slice(stat.lastIndexOf(")")).split(" ")[20]}`;
  return succeeds(() => process.kill(pid, 0)) ? `${pid}` : undefined;
}

function read(path: string): string | undefined {
  return fs.existsSync(path) ? fs.readFileSync(path, "utf8") : undefined;
}

/** Return whether an action succeeds, rather than finding that something exists or does not. */
function succeeds(action: () => void): boolean {
  try {
    action();
  } catch (error) {
    if (isOfSystem(error) && /^(ENOENT|EEXIST|ESRCH)$/.test(error.code ?? "")) return false;
    throw error;
  }
  return true;
}
