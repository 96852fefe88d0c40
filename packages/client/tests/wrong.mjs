// Everything that a stream must refuse, and how it says so.
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";

import { connect, InvalidInput, NoDecision, StreamFull } from "affinity-bandits";

const { AFFINITY_URL, AFFINITY_KEY, CAMPAIGN } = process.env;
const refuses = (action, parameter) =>
  assert.throws(action, (error) => error instanceof InvalidInput && error.parameter === parameter);

refuses(() => connect("ftp://x", AFFINITY_KEY), "url");
refuses(() => connect("nowhere", AFFINITY_KEY), "url");
assert.throws(() => connect(AFFINITY_URL, `${AFFINITY_KEY}x`), (error) => !error.message.includes(AFFINITY_KEY));

const service = connect(AFFINITY_URL, `${AFFINITY_KEY}\n`); // as a file has it
refuses(() => service.stream("where to look"), "campaign");
refuses(() => service.stream(CAMPAIGN, { fallback: 3 }), "fallback");
refuses(() => service.stream(CAMPAIGN, { sync: "x", journal: "j" }), "sync");
mkdirSync("folder");
refuses(() => service.stream(CAMPAIGN, { journal: "folder" }), "journal");
refuses(() => service.stream(CAMPAIGN, { journal: "nowhere/j" }), "journal");
writeFileSync("notes", "not a journal");
refuses(() => service.stream(CAMPAIGN, { journal: "notes" }), "journal");

const stream = service.stream(CAMPAIGN, { journal: "j", sync: "disk", largestJournal: 300 });
const other = service.stream(CAMPAIGN);
refuses(() => service.stream(CAMPAIGN, { journal: "j" }), "journal");
assert.throws(() => other.next(), NoDecision);
assert.ok(await stream.wait());
assert.ok(await other.wait());
const decision = stream.next();
for (const score of [7, NaN, "1", undefined]) refuses(() => stream.tell(decision, score), "score");
for (const rater of ["a@b.example", "two words", "", "r".repeat(65), 17]) refuses(() => stream.tell(decision, 1, { rater }), "rater");
refuses(() => stream.tell(decision, 1, { rater: "r1", group: "nobody" }), "rater");
for (const strange of [other.next(), { ...decision }]) refuses(() => stream.tell(strange, 1), "decision");
stream.tell(decision, 1, { rater: "r1", group: "a" });
refuses(() => stream.tell(decision, 1), "decision");

const last = stream.next();
assert.throws(() => {
  for (;;) stream.tell(stream.next(), 1, { rater: "r".repeat(64) });
}, StreamFull);
await stream.close();
await other.close();
refuses(() => stream.tell(last, 1), "decision");
const { told, counted } = stream.stats();
assert.ok(told > 1 && told === counted);

const warned = [];
const mistyped = service.stream(CAMPAIGN, { fallback: "refferals", warn: (text) => warned.push(text) });
await assert.rejects(mistyped.wait(), /fallback must be a group of the campaign, one of \["a","b"\], got "refferals"/);
refuses(() => mistyped.next(), "fallback");
assert.deepEqual(warned, [`stream of campaign ${CAMPAIGN}: ${mistyped.problem}`]);
const computed = service.stream(CAMPAIGN, { fallback: () => "refferals" });
assert.ok(await computed.wait());
refuses(() => {
  for (;;) computed.next();
}, "fallback");
await computed.close();
