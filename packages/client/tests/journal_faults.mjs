// Histories of a TypeScript journal on disks that fill up, in processes that are killed at any moment:
// node journal_faults.mjs JOURNAL FOLDER HISTORIES. It prints what they saw, by kind.
import assert from "node:assert/strict";
import child_process from "node:child_process";
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [, , compiled, folder, histories] = process.argv;
const LARGEST = 4_000;
const PLENTY = 1e9;
const real = { ...fs };
const killed = new Error("killed"); // not of the system, so that nothing handles it
let disk;

function random(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

function failure(code) {
  disk.faults++;
  return Object.assign(new Error(code), { code, syscall: "write" });
}

/** Do what changes files, unless the process is killed before it, or it fails. */
function change(action) {
  return (...given) => {
    if (disk.left === 0) throw killed;
    disk.left--;
    if (disk.failing && disk.random() < 0.1) throw failure("EIO");
    return action(...given);
  };
}

for (const name of ["ftruncateSync", "renameSync", "rmSync"]) fs[name] = change(real[name]);
fs.fsyncSync = change(() => {}); // no machine fails here
const opened = change(real.openSync);
fs.openSync = (...given) => {
  const file = opened(...given);
  disk.files.add(file);
  return file;
};
fs.closeSync = (file) => {
  if (disk.files.delete(file)) real.closeSync(file);
};
const write = change(real.writeSync);
fs.writeSync = (file, bytes, from) => {
  const whole = bytes.length - from;
  const part = (most) => real.writeSync(file, bytes, from, Math.floor(disk.random() * (most + 1)));
  if (disk.left === 0) {
    part(Math.min(whole, disk.free)); // killed half-way
    throw killed;
  }
  const fitting = Math.min(whole, disk.free);
  if (fitting === 0) throw failure("ENOSPC");
  disk.free -= fitting;
  try {
    return write(file, bytes, from, fitting);
  } catch (error) {
    part(fitting);
    throw error;
  }
};
child_process.spawnSync = () => ({ status: 0 }); // the lock: a process for each would take long
syncBuiltinESMExports();
const { Journal } = await import(pathToFileURL(compiled));

const seen = {};
const see = (kind, number = 1) => number > 0 && (seen[kind] = (seen[kind] ?? 0) + number);
const kinds = new Set(["InvalidInput", "StreamFull"]);
const attempt = (action) => {
  try {
    action();
    return true;
  } catch (error) {
    if (error.name !== "StreamFull") throw error;
    return false;
  }
};

function history(seed) {
  const next = random(seed);
  const path = join(folder, `j${seed}`);
  const whole = (least, most) => least + Math.floor(next() * (most - least + 1));
  const pick = (some) => some[whole(0, some.length - 1)];
  let waiting = new Set();
  const ever = new Set();
  const batches = new Map();
  let number = 0;
  let wasSound = true;
  let perhaps = new Set();
  for (let life = whole(1, 4); life > 0; life--) {
    disk = { random: next, free: PLENTY, failing: next() < 0.2, faults: 0, left: next() < 0.5 ? whole(0, 120) : -1, files: new Set() };
    try {
      const journal = new Journal(path, "c", pick(["kernel", "disk"]), LARGEST);
      let { batch, unsent } = journal;
      unsent = [...unsent];
      const slots = [...(batch?.answers ?? []), ...unsent].map(([, slot]) => slot);
      see("opened");
      see("lost", [...waiting].filter((slot) => !slots.includes(slot)).length);
      see("twice", slots.length - new Set(slots).size);
      see("invented", slots.filter((slot) => !ever.has(slot)).length);
      if (batch !== undefined && batches.get(batch.key) !== String(batch.answers.map(([, slot]) => slot)))
        see("other answers under a key");
      if (wasSound && slots.some((slot) => !waiting.has(slot) && !perhaps.has(slot))) see("acknowledged answers, with a sound disk");
      waiting = new Set(slots);
      perhaps = new Set();
      for (let turn = whole(3, 80); turn > 0; turn--) {
        const chance = next();
        if (chance < 0.04) disk.free = pick([0, 20, 60, 300, 3_000, PLENTY]);
        else if (chance < 0.65) {
          const answer = [Math.floor(++number / 9), number, 0.5, pick([null, "r1"]), null];
          ever.add(number);
          perhaps.add(number);
          if (attempt(() => journal.append(answer))) {
            perhaps.delete(number);
            waiting.add(number);
            unsent.push(answer);
          }
        } else if (batch === undefined && unsent.length > 0) {
          batch = { key: `k${next()}`, answers: unsent.splice(0, whole(1, unsent.length)) };
          batches.set(batch.key, String(batch.answers.map(([, slot]) => slot)));
          journal.begin(batch);
        } else if (batch !== undefined) {
          const often = pick([0, 0, 0.2, 1]);
          const kept = batch.answers.filter(() => next() < often);
          for (const answer of batch.answers) if (!kept.includes(answer)) waiting.delete(answer[1]);
          const was = batch;
          batch = undefined;
          journal.settle(was, kept, unsent);
        }
      }
      if (next() < 0.3) journal.close(waiting.size === 0);
    } catch (error) {
      if (error === killed) see("killed");
      else if (kinds.has(error.name)) see(disk.faults > 0 ? "not opened" : "refused on a sound disk");
      else throw error;
    }
    wasSound = disk.faults === 0 && disk.left !== 0;
    for (const file of disk.files) real.closeSync(file);
    disk = { random: next, free: PLENTY, failing: false, faults: 0, left: -1, files: new Set() };
    const size = real.existsSync(path) ? real.statSync(path).size : 0;
    const chance = next();
    if (size > 0 && chance < 0.1) {
      real.truncateSync(path, whole(0, size)); // a part of the file is lost
      waiting = new Set();
      wasSound = false;
    } else if (size > 0 && chance < 0.2) {
      const bytes = Uint8Array.from({ length: whole(1, 40) }, () => whole(0, 255));
      const text = real.readFileSync(path);
      const at = whole(0, size);
      const junk = Buffer.concat([text.subarray(0, at), bytes, Buffer.from(pick(["", "\n"])), text.subarray(at + pick([0, bytes.length]))]);
      real.writeFileSync(path, junk);
      try {
        new Journal(path, "c", "kernel", LARGEST).close(false);
        see("read with junk");
      } catch (error) {
        assert.equal(error.name, "InvalidInput");
        see("refused");
        if (!/line \d+/.test(error.message)) see("refused without its line");
        if (!real.readFileSync(path).equals(junk)) see("changed although refused");
      }
      break;
    }
  }
  for (const name of real.readdirSync(folder)) real.rmSync(join(folder, name));
}

for (let seed = 0; seed < Number(histories); seed++) history(seed);
console.log(JSON.stringify(seen));
