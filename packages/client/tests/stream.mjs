// A stream that a test drives: a command per line on standard input, a reply per line on standard output.
import { createInterface } from "node:readline";

import { connect } from "affinity-bandits";

const { url, key, campaign, options, lost } = JSON.parse(process.argv[2]);
const real = globalThis.fetch;
globalThis.fetch = async (request) => {
  const reply = await real(request);
  const at = lost.findIndex((end) => request.url.endsWith(end));
  if (at < 0) return reply;
  lost.splice(at, 1);
  await reply.text(); // the service has dealt with it
  throw new TypeError("the reply was lost");
};
const warned = [];
console.warn = (text) => warned.push(text);
const stream = connect(url, key).stream(campaign, options);

const commands = {
  wait: () => stream.wait(),
  stats: () => ({ ...stream.stats(), ended: stream.ended, problem: stream.problem, warned }),
  // Decide and tell without a pause; return how many decisions were the fallback's.
  decide: (number) => {
    let fallbacks = 0;
    for (let made = 0; made < number; made++) {
      const decision = stream.next();
      fallbacks += decision.isFallback;
      stream.tell(decision, decision.arm === "b" ? 1 : 0);
    }
    return fallbacks;
  },
  // The same with pauses, until so many were from leased slots or the campaign has ended.
  work: async (number) => {
    for (let made = 0; made < number && (await stream.wait()); made++) commands.decide(1);
  },
  close: () => stream.close(),
};

for await (const line of createInterface({ input: process.stdin })) {
  const [name, given] = JSON.parse(line);
  console.log(JSON.stringify({ reply: await commands[name](given) }));
}
